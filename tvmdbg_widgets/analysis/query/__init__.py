"""One small language to choose nodes, the same in Python and in the search fields of the views.

::

    query   = [ either ] ;                            (* nothing finds nothing *)
    either  = all { ( "or" | "|" ) all } ;
    all     = negated { [ "and" ] negated } ;         (* a space is "and" *)
    negated = { "not" | "-" } path ;
    path    = step { ( "->" | "->>" ) step } ;        (* read by; somewhere downstream *)
    step    = "(" either ")" | term ;
    term    = word | "#" id | sizes                   (* (1, 64, 8, 8): that shape *)
            | text ( ":" | "=" | "!=" ) word
            | "shape" ( ":" | "=" | "!=" ) sizes
            | number ( ":" | "=" | "!=" | "<" | "<=" | ">" | ">=" ) amount [ unit ] ;
    word    = characters without spaces, "(", ")", "|" and "->"
            | quoted                                  (* anything, in " or ' *)
            | glob                                    (* with * and ?: fits the whole text *)
            | "/" regular expression "/" ;            (* without spaces *)
    text    = "name" | "op" | "func" | "kind" | "dtype" | "device" | "layout" | "group"
            | "attr." key ;                           (* also compared, where it is a number *)
    number  = "id" | "time" | "share" | "bytes" | "storage" | "rank"
            | "inputs" | "outputs" | "consumers" | "depth" ;
    sizes   = size { ( "," | "x" | "×" ) size } ;     (* in brackets or not *)
    size    = digits with * and ? | "..." ;           (* *: one of any size; ...: any number *)
    unit    = "ns" | "us" | "ms" | "s" | "%" | "B" | "KB" | "KiB" | "MB" | "MiB" | … ;

A word is found in a node's name, function, operators, kind, dtypes or shapes; after ``:`` it is
part of the field, after ``=`` the whole of it. Upper and lower case are alike. What is said of
shape, dtype, device, layout, bytes, rank and storage holds for any output of the node; ``!=`` is
what has a value and none that is equal. What is unknown fits no comparison, so ``not time<1ms``
finds also nodes without a time. A path finds all nodes on it, along edges of data.

Trials of a tuning log have fields of their own, and neither sizes, attributes nor paths; a field
that is text and number, such as ``error``, is a number where a whole number follows.
"""
