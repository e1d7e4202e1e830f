/** What is used of BokehJS; see https://docs.bokeh.org/en/latest/docs/reference/embed.html. */
export interface Bokeh {
  documents: unknown[];
  embed: { embed_item(item: Item, target: HTMLElement): Promise<Views> };
}

/** A figure as `bokeh.embed.json_item` writes it. */
export interface Item {
  root_id: string;
  doc: unknown;
}

interface Views {
  roots: { model: Model }[];
  clear(): void;
}

interface Model {
  document: unknown;
  references(): Iterable<object>;
}

/** A ColumnDataSource. */
export interface Source {
  selected: Selected;
  columns(): string[];
  get_column(name: string): ArrayLike<unknown> | null;
}

export interface Selected {
  indices: number[];
  properties: { indices: { change: Signal } };
}

interface Signal {
  connect(slot: () => void): unknown;
}

/** A figure in the page; `close` takes it away. */
export interface Drawn {
  sources: Source[];
  close(): void;
}

export async function draw(bokeh: Bokeh, item: Item, target: HTMLElement): Promise<Drawn> {
  const views = await bokeh.embed.embed_item(item, target);
  const models = views.roots.map((view) => view.model);
  const [document] = models.map((model) => model.document);
  return {
    sources: [...new Set(models.flatMap((model) => [...model.references()]))].filter(isSource),
    close: () => {
      views.clear();
      const at = bokeh.documents.indexOf(document);
      if (at >= 0) bokeh.documents.splice(at, 1);
    },
  };
}

function isSource(model: object): model is Source {
  return "get_column" in model && "columns" in model && "selected" in model;
}
