// tvmdbgHost.show mounts the views that its settings name in place of those that are there, so
// that tests share one document; `started` tells of the latest. window.tvmdbg holds the models for the
// tests, and the root element tells how many questions were asked and how many are under way. tvmdbgHost.pending()
// tells whether scripts wait for anything else that comes of itself.
(() => {
  // Timers that a view waits for; what is there for a user to read is taken away later.
  const SOON_MS = 500;
  const pending = new Set();
  const { setTimeout: later, clearTimeout: forget } = window;
  window.setTimeout = (act, ms = 0, ...given) => {
    const timer = later(() => {
      pending.delete(timer);
      act(...given);
    }, ms);
    if (ms <= SOON_MS) pending.add(timer);
    return timer;
  };
  window.clearTimeout = (timer) => {
    pending.delete(timer);
    forget(timer);
  };
  // Long work pauses by a message to itself, and workers are sent messages that they answer.
  const answered = (Kind, sends, hears) => class extends Kind {
    constructor(...given) {
      super(...given);
      const [to, from] = [sends(this), hears(this)];
      const send = to.postMessage;
      to.postMessage = (...message) => {
        pending.add(this);
        send.apply(to, message);
      };
      const heard = () => later(() => pending.delete(this));
      for (const kind of ["message", "error"]) from.addEventListener(kind, heard);
    }
    terminate() {
      pending.delete(this);
      super.terminate();
    }
  };
  window.MessageChannel = answered(MessageChannel, (own) => own.port2, (own) => own.port1);
  window.Worker = answered(Worker, (own) => own, (own) => own);

  const { documentElement: html, head } = document;
  const { dataset } = html;
  let gone = new AbortController();

  // Answers to one set of views; they end, and are counted no more, once others are shown.
  const asks = (signal) => {
    const page = Math.random().toString(36).slice(2);
    const numbers = {};
    let [asked, asking] = [0, 0];
    const count = (by) => {
      asking += by;
      if (!signal.aborted) [dataset.asked, dataset.asking] = [asked, asking];
    };
    count(0);
    const fetched = async (message, model) => {
      asked++;
      numbers[model] ??= 0;
      const number = numbers[model]++;
      count(1);
      const answer = await fetch("ask", {
        method: "POST",
        body: JSON.stringify(message),
        headers: { "X-Page": page, "X-Number": number, "X-Model": model },
        signal,
      });
      const bytes = await answer.arrayBuffer();
      const length = new DataView(bytes).getUint32(0, true);
      const content = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, 4, length)));
      return { content, buffers: [new DataView(bytes, 4 + length)] };
    };
    return async (message, model) => {
      try {
        return await fetched(message, model);
      } finally {
        later(() => count(-1)); // once the views have heard
      }
    };
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

  // Not where a test has written another document into this window.
  const isWhole = () => document.documentElement === html;

  // Takes away the views and all that a test may have left in the document.
  const clear = async () => {
    if (!isWhole()) return false;
    window.tvmdbg?.close();
    gone.abort();
    gone = new AbortController();
    pending.clear();
    document.body.replaceChildren();
    for (const each of [html, document.body]) {
      for (const { name } of [...each.attributes]) if (name !== "lang") each.removeAttribute(name);
    }
    for (const each of [...head.children]) if (!heads.has(each)) each.remove();
    for (const [object, names] of globals) {
      for (const name of Object.keys(object)) if (!names.has(name)) delete object[name];
    }
    getSelection().removeAllRanges();
    scrollTo(0, 0);
    for (const storage of [localStorage, sessionStorage]) storage.clear();
    await new Promise((passed) => later(passed)); // for errors of what ended
    return true;
  };

  const show = async ({ views, states, theme, width, own: bundles }) => {
    await clear();
    const { signal } = gone;
    const { body } = document;
    dataset.theme = theme;
    body.className = theme;
    body.style.width = `${width}px`;
    const ask = asks(signal);
    const models = {
      run: { content_hash: "page", title: "page" },
      session: session(states.session),
      run_b: { content_hash: "page b", title: "page b" },
      session_b: session(states.session_b),
    };
    const shown = [];
    for (const [i, view] of views.entries()) {
      const id = `${view}${i}`;
      models[id] = { _figure_id: id, ...states[view], run: "anywidget:run", session: "anywidget:session" };
      if (view === "comparison") {
        Object.assign(models[id], { run_b: "anywidget:run_b", session_b: "anywidget:session_b" });
      }
      const element = document.createElement("div");
      element.className = "cell";
      body.append(element);
      const known = view in states && !bundles.includes(view);
      const own = known ? view : (await import(`/${view}.js`)).default;
      shown.push({ view: own, model: id, element });
    }
    // Not waited for: a test may hold back what a view asks for first.
    tvmdbgPage.start({ models, views: shown, ask }).then((started) => {
      if (signal.aborted) return started.close();
      window.tvmdbg = started;
      dataset.started = "true";
    });
  };

  const settings = JSON.parse(document.getElementById("settings").textContent);
  window.tvmdbgHost = { show, clear, isWhole, pending: () => pending.size > 0 };
  const globals = [window, document].map((each) => [each, new Set(Object.keys(each))]);
  const heads = new Set(head.children);
  show(settings);
})();
