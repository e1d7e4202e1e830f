// Mounts the views that the settings name; window.tvmdbg holds the models for the tests, and the
// root element tells how many questions were asked and how many of them are under way.
(async () => {
  const { views, states, own: bundles } = JSON.parse(document.getElementById("settings").textContent);
  const page = Math.random().toString(36).slice(2);
  const { dataset } = document.documentElement;
  let [asked, asking] = [0, 0];
  const count = (by) => {
    asking += by;
    [dataset.asked, dataset.asking] = [asked, asking];
  };
  count(0);
  const ask = async (message, model) => {
    try {
      return await fetched(message, model);
    } finally {
      setTimeout(() => count(-1)); // once the views have heard
    }
  };
  const numbers = {};
  const fetched = async (message, model) => {
    asked++;
    numbers[model] ??= 0;
    const number = numbers[model]++;
    count(1);
    const answer = await fetch("/ask", {
      method: "POST",
      body: JSON.stringify(message),
      headers: { "X-Page": page, "X-Number": number, "X-Model": model },
    });
    const bytes = await answer.arrayBuffer();
    const length = new DataView(bytes).getUint32(0, true);
    const content = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, 4, length)));
    return { content, buffers: [new DataView(bytes, 4 + length)] };
  };
  const session = (state) => ({
    selected: [],
    entry: null,
    slice: null,
    time_range: null,
    hovered: null,
    source: "",
    notes: {},
    tour: [],
    tour_step: null,
    ...state,
  });
  const models = {
    run: { content_hash: "page", title: "page" },
    session: session(states.session),
    run_b: { content_hash: "page b", title: "page b" },
    session_b: session(states.session_b),
  };
  const shown = [];
  for (const [i, view] of views.entries()) {
    const id = `${view}${i}`;
    models[id] = { ...states[view], run: "anywidget:run", session: "anywidget:session" };
    if (view === "comparison") {
      Object.assign(models[id], { run_b: "anywidget:run_b", session_b: "anywidget:session_b" });
    }
    const element = document.createElement("div");
    element.className = "cell";
    document.body.append(element);
    const known = view in states && !bundles.includes(view);
    const own = known ? view : (await import(`/${view}.js`)).default;
    shown.push({ view: own, model: id, element });
  }
  window.tvmdbg = await tvmdbgPage.start({ models, views: shown, ask });
  dataset.started = "true";
})();
