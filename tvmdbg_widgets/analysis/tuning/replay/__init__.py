"""Steps replayed to the loop nest that ``print(state)`` shows, without TVM."""
