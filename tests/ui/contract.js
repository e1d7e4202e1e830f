// A widget whose view holds its host to what our views rely on, and writes what it found as JSON.
// Bundled by contract.py, so that our own clients run on the host's models.
import { NewestWins, request } from "../../js/src/shared/client/request.ts";
import { clientOf } from "../../js/src/shared/client/client.ts";
import { SessionClient } from "../../js/src/shared/client/session_client.ts";

const WAIT_MS = 20_000;
const VIEW = { reading: null, layout: null, sizes: {}, axes: [0, 1], index: [0, 0, 0, 0] };
const LARGE = { ...VIEW, part: null, rows: 64, cols: 64, exact: true };
const POLL_MS = 20;

function equal(found, expected, what) {
  const [a, b] = [JSON.stringify(found), JSON.stringify(expected)];
  if (a !== b) throw new Error(`${what}: expected ${b}, found ${a}`);
}

const settled = () => new Promise((resolve) => setTimeout(resolve, 0));
const within = () => AbortSignal.timeout(WAIT_MS);

async function refusal(question) {
  try {
    await question;
  } catch (error) {
    return error.message;
  }
  throw new Error("answered what it should have refused");
}

function counted(model, event) {
  const seen = [];
  model.on(event, (...args) => seen.push(args));
  return seen;
}

/** The model with every buffer moved to an odd offset. */
function atOddOffsets(model) {
  const listeners = new Map();
  const moved = (view) => {
    const bytes = new Uint8Array(view.byteLength + 3);
    bytes.set(new Uint8Array(view.buffer, view.byteOffset, view.byteLength), 3);
    return new DataView(bytes.buffer, 3);
  };
  return {
    get: (name) => model.get(name),
    send: (message) => model.send(message),
    on(event, listener) {
      listeners.set(listener, (content, buffers = []) => listener(content, buffers.map(moved)));
      model.on(event, listeners.get(listener));
    },
    off: (event, listener) => model.off(event, listeners.get(listener)),
  };
}

const CHECKS = {
  async "a change is told once, and to everyone who has the model"({ session, again }) {
    const [one, other] = [counted(session, "change:time_range"), counted(again, "change:time_range")];
    session.set("time_range", [1, 2]);
    equal([one.length, other.length], [1, 1], "events");
    equal(again.get("time_range"), [1, 2], "what the other has");
    session.save_changes();
  },

  async "setting what is there already tells no one"({ session }) {
    session.set("time_range", [1, 2]);
    const seen = counted(session, "change:time_range");
    session.set("time_range", [1, 2]);
    equal(seen.length, 0, "events");
  },

  async "any change is told as change, too"({ session }) {
    const seen = counted(session, "change");
    session.set("time_range", [3, 4]);
    equal(seen.length, 1, "events");
    session.save_changes();
  },

  async "a listener taken off hears nothing; others still do"({ session, again }) {
    const heard = [];
    const gone = () => heard.push("gone");
    session.on("change:time_range", gone);
    again.on("change:time_range", () => heard.push("there"));
    session.off("change:time_range", gone);
    again.off("change:time_range", gone);
    session.set("time_range", [5, 6]);
    equal(heard, ["there"], "heard");
    session.save_changes();
  },

  async "who comes late sees the present state"({ session, host, reference }) {
    new SessionClient(session).select(7, "contract", { output: 0, occurrence: 1 });
    const late = new SessionClient(await host.getModel(reference.session));
    equal([late.node, late.entry, late.slice], [7, [7, 0], [7, 1]], "state");
  },

  async "a burst of changes is one call, and none after the view has gone"({ session, again }) {
    const controller = new AbortController();
    let calls = 0;
    new SessionClient(again).onChange(() => (calls += 1), controller.signal);
    const client = new SessionClient(session);
    client.select(3, "contract");
    await settled();
    equal(calls, 1, "calls for one selection");
    client.select(3, "contract");
    await settled();
    equal(calls, 1, "calls for the same selection");
    controller.abort();
    client.select(4, "contract");
    await settled();
    equal(calls, 1, "calls after the end");
  },

  async "columns are the same at odd offsets"({ run }) {
    const ends = new AbortController();
    const [plain, odd] = [run, atOddOffsets(run)].map((model, i) =>
      clientOf(model, `contract-${i}`, ends.signal),
    );
    for (const part of ["graph", "timeline", "tensors"]) {
      const [a, b] = await Promise.all([plain.ask(part), odd.ask(part)]);
      equal(Object.keys(a), Object.keys(b), part);
      for (const [name, column] of Object.entries(a)) {
        equal(b[name], column, `${part}.${name}`);
      }
    }
    ends.abort();
  },

  async "columns are fetched once for all views of a page"({ run }) {
    const ends = new AbortController();
    let sent = 0;
    const spied = {
      get: (name) => run.get(name),
      on: (...args) => run.on(...args),
      off: (...args) => run.off(...args),
      send: (message) => {
        sent += 1;
        run.send(message);
      },
    };
    const clients = [0, 1].map(() => clientOf(spied, "contract-once", ends.signal));
    const [a, b] = await Promise.all(clients.map((client) => client.ask("graph")));
    equal([sent, a === b], [1, true], "questions, and whether both got the same");
    ends.abort();
    const next = new AbortController();
    await clientOf(spied, "contract-once", next.signal).ask("graph");
    equal(sent, 2, "questions after all views had gone");
    next.abort();
  },

  async "an error is an answer"({ run }) {
    const ask = (kind, payload) => refusal(request(run, kind, payload, within()));
    for (const [kind, payload, says] of [
      ["nonsense", {}, "unknown question"],
      ["node", { node: 10 ** 9 }, "1000000000"],
      ["node", {}, "node must be an integer"],
      ["tensor", { ...LARGE, entry: [10 ** 9, 0] }, "1000000000"],
      ["tensor", { ...LARGE, entry: [1, 0], rows: 8192, cols: 8192 }, "at most"],
      ["values", { ...LARGE, entry: [1, 0], row: -1, col: 0 }, "row must lie in"],
    ]) {
      const said = await ask(kind, payload);
      if (!said.includes(says)) throw new Error(`${kind}: "${said}" does not say "${says}"`);
    }
  },

  async "numbers of a tensor come the same at odd offsets, and agree with each other"({ run }) {
    const ends = new AbortController();
    const entry = [4, 0];
    const told = await Promise.all(
      [run, atOddOffsets(run)].map(async (model, i) => {
        const client = clientOf(model, `contract-tensor-${i}`, ends.signal);
        const counted = async () => {
          const found = await client.ask("statistics", { entry, reading: null, exact: true }, within());
          if (found.state === "exact") return found;
          equal([found.state, found.distribution], ["scanning", null], "while it is counted");
          await new Promise((resolve) => setTimeout(resolve, POLL_MS));
          return counted();
        };
        const [statistics, profile, channels, data, values, percentiles] = await Promise.all([
          counted(),
          client.ask("profile", { ...VIEW, entry, axis: 0, points: 64 }, within()),
          client.ask("channels", { ...VIEW, entry, axis: 2, first: 0, count: 3, rows: 8, cols: 8 }, within()),
          client.ask("data", { ...VIEW, entry, row: 0, rows: 10 ** 6 }, within()),
          client.ask(
            "values",
            { ...VIEW, entry, row: 0, col: 0, rows: 2, cols: 3, format: "hex", scale: 1, zeroPoint: 0 },
            within(),
          ),
          client.ask("percentiles", { entry, reading: null, percents: [0, 100] }, within()),
        ]);
        const bytes = [...new Uint8Array(data.bytes.buffer, data.bytes.byteOffset, data.bytes.byteLength)];
        return { statistics, profile, channels, data: { ...data, bytes }, values, percentiles };
      }),
    );
    equal(told[1], told[0], "at odd offsets");
    const [{ statistics, profile, channels, data, values, percentiles }] = told;
    const numbers = statistics.statistics;
    const sum = (list) => list.reduce((total, each) => total + each, 0);
    equal(sum([...statistics.distribution.count]), numbers.finite, "values of the distribution");
    equal(sum(statistics.histogram.counts), numbers.finite, "values of the histogram");
    equal(Math.min(...profile.minimum), numbers.minimum.value, "least value of the profile");
    equal(channels.minimum.length, channels.count * channels.rows * channels.cols, "cells");
    equal(data.bytes.length, data.rows * data.cols * Number(data.descr.slice(2)), "bytes");
    equal(values.text.length, values.rows * values.cols, "values");
    equal(values.text.filter((text) => !/^0x[0-9A-F]{4}$/.test(text)), [], "what is no float16 as hex");
    equal(
      percentiles.map(({ low }) => low.value),
      [numbers.minimum.value, numbers.maximum.value],
      "percentiles 0 and 100",
    );
    const stopping = clientOf(run, "contract-stop", ends.signal);
    const stopped = await stopping.ask("cancelTensor", { entry, reading: null }, within());
    equal(stopped.state, "exact", "after all were counted there is nothing to stop");
    ends.abort();
  },

  async "the health of all tensors comes in execution order"({ run }) {
    const ends = new AbortController();
    const client = clientOf(run, "contract-health", ends.signal);
    const [health, tensors] = await Promise.all([client.ask("health", {}, within()), client.ask("tensors")]);
    equal([...health.node], [...tensors.node], "nodes");
    equal([...health.rank].sort((a, b) => a - b), [...health.rank.keys()], "ranks");
    equal([health.words.length, health.total], [tensors.node.length, tensors.node.length], "rows");
    ends.abort();
  },

  async "of one client's questions the newest is answered, and none is forgotten"({ run }) {
    const questions = Array.from({ length: 24 }, (_, i) =>
      request(run, "tensor", { ...LARGE, client: "one", entry: [1 + 3 * (i % 2), 0] }, within()),
    );
    const answers = await Promise.allSettled(questions);
    for (const { status, reason } of answers.slice(0, -1)) {
      if (status === "rejected" && !/superseded/.test(reason.message)) throw reason;
    }
    equal(answers.at(-1).status, "fulfilled", "the newest");
    equal(answers.at(-1).value.result.entry, [4, 0], "its entry");
  },

  async "clients that ask at once each get their own"({ run }) {
    const ends = new AbortController();
    const clients = [1, 4, 7, 10].map((node) => ({
      node,
      client: clientOf(run, `contract-${node}`, ends.signal),
    }));
    const answers = await Promise.all(
      clients.flatMap(({ node, client }) => [
        client
          .ask("tensor", { ...LARGE, entry: [node, 0] }, within())
          .then(({ entry }) => entry[0]),
        client.ask("node", { node }, within()).then(({ id }) => id),
      ]),
    );
    equal(answers, [1, 1, 4, 4, 7, 7, 10, 10], "nodes");
    ends.abort();
  },

  async "of a client that waits only the newest question goes out"({ run }) {
    const newest = new NewestWins();
    let sent = 0;
    const ask = (node) =>
      newest.ask(() => {
        sent += 1;
        return request(run, "node", { node, client: "newest" }, within());
      });
    const answers = await Promise.allSettled([ask(1), ask(4), ask(7), ask(10)]);
    equal(
      answers.map(({ status }) => status),
      ["fulfilled", "rejected", "rejected", "fulfilled"],
      "answers",
    );
    equal([sent, answers[3].value.result.id], [2, 10], "questions sent, and the last one's node");
  },

  async "what makes no sense is refused and harms nothing"({ run }) {
    const huge = 2 ** 60;
    for (const message of [null, 5, "x", [], [{}], {}, { kind: 5 }, { kind: null, id: "x" }]) {
      run.send(message);
    }
    for (const id of [{}, 7, null, [], "x".repeat(100_000)]) run.send({ id, kind: "node", node: "x" });
    const strange = [null, true, -1, 0.5, huge, 1e308, "1", [], {}, [[]], { length: 2 }];
    const asked = strange.flatMap((odd) => [
      request(run, "node", { node: odd }, within()),
      request(run, "tensor", { ...LARGE, entry: odd }, within()),
      request(run, "tensor", { ...LARGE, entry: [odd, odd] }, within()),
      request(run, "tensor", { ...LARGE, client: odd, entry: [4, 0], axes: [odd, odd, odd] }, within()),
      request(run, "tensor", { ...LARGE, client: `${odd}`, entry: [4, 0], index: odd ?? 0 }, within()),
      request(run, "values", { ...LARGE, entry: [4, 0], row: odd, col: 0, cols: odd }, within()),
      request(run, "tensor", { ...LARGE, entry: [4, 0], part: odd, layout: odd }, within()),
      request(run, "tensor", { ...LARGE, entry: [4, 0], part: [odd, 0, 1, 1], sizes: { C: odd } }, within()),
      request(run, "statistics", { entry: [4, 0], reading: odd, exact: odd }, within()),
      request(run, "percentiles", { entry: [4, 0], percents: [odd] }, within()),
      request(run, "profile", { ...VIEW, entry: [4, 0], axis: odd, points: odd }, within()),
      request(run, "channels", { ...LARGE, entry: [4, 0], axis: 2, first: odd, count: odd }, within()),
      request(run, "data", { ...VIEW, entry: [4, 0], row: odd, rows: odd, col: odd }, within()),
      request(run, "cancelTensor", { entry: [odd], reading: odd }, within()),
      request(run, "__class__", { kind: odd }, within()),
    ]);
    asked.push(request(run, "x".repeat(100), {}, within()));
    const answers = await Promise.allSettled(asked);
    const slow = answers.filter(({ reason }) => reason?.name === "TimeoutError");
    equal(slow.length, 0, "questions without an answer");
    const { result } = await request(run, "node", { node: 4, client: "after" }, within());
    equal(result.id, 4, "the next honest question");
  },
};

async function render({ model, el, host, signal }) {
  const shown = document.createElement("pre");
  shown.className = "contract";
  el.append(shown);
  const reference = { run: model.get("run"), session: model.get("session") };
  const [run, session, again] = await Promise.all([
    host.getModel(reference.run),
    host.getModel(reference.session),
    host.getModel(reference.session),
  ]);
  const results = [];
  for (const [name, check] of Object.entries(CHECKS)) {
    let detail = null;
    try {
      await check({ run, session, again, host, reference });
    } catch (error) {
      detail = `${error.name}: ${error.message}`;
    }
    results.push({ name, detail });
  }
  // What the host must take away itself when the view goes, and what must have reached Python.
  window.contractHeard = 0;
  session.on("change:hovered", () => {
    window.contractHeard += 1;
  });
  new SessionClient(session).select(41, "contract");
  signal.addEventListener("abort", () => {
    window.contractGone = true;
  });
  shown.textContent = JSON.stringify(results);
  shown.dataset.done = "true";
}

export default { render };
