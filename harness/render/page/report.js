"use strict";
// Sorts, filters, and opens turns. All text reaches the page through textContent.
(() => {
  const turnWidth = 6;
  const add = (parent, tag, text, cls) => {
    const e = document.createElement(tag);
    if (text !== undefined) e.textContent = text;
    if (cls) e.className = cls;
    parent.append(e);
    return e;
  };

  // data inflates the turns of a run, once.
  const cache = new Map();
  const blobs = new Map([...document.querySelectorAll("template.data")].map(s => [s.dataset.run, s]));
  async function data(run) {
    if (!cache.has(run)) {
      const blob = blobs.get(run);
      if (!blob) return [];
      const bytes = Uint8Array.from(atob(blob.content.textContent.replaceAll("-", "+").replaceAll("_", "/")), c => c.charCodeAt(0));
      const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
      cache.set(run, JSON.parse(await new Response(stream).text()));
    }
    return cache.get(run);
  }

  // visible writes out what would hide or turn text around.
  const hidden = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g;
  // visible also cuts what no reader reads and a browser would lay out for seconds.
  const longest = 100000;
  const visible = s => (s.length > longest ? s.slice(0, longest) + "… (" + s.length + " characters in all)" : s)
    .replace(hidden, c => "\\u{" + c.charCodeAt(0).toString(16) + "}");

  // diff marks the words that came and went between two memories.
  function diff(parent, before, after) {
    const a = before.split(/(\s+)/), b = after.split(/(\s+)/);
    const pre = add(parent, "pre");
    if (a.length * b.length > 4e6) { pre.textContent = visible(after); return; }
    const n = b.length + 1, t = new Uint16Array((a.length + 1) * n);
    for (let i = a.length - 1; i >= 0; i--)
      for (let j = b.length - 1; j >= 0; j--)
        t[i * n + j] = a[i] === b[j] ? t[(i + 1) * n + j + 1] + 1 : Math.max(t[(i + 1) * n + j], t[i * n + j + 1]);
    let i = 0, j = 0;
    const put = (tag, s) => add(pre, tag, visible(s));
    while (i < a.length || j < b.length) {
      if (i < a.length && j < b.length && a[i] === b[j]) { put("span", a[i]); i++; j++; }
      else if (j < b.length && (i === a.length || t[i * n + j + 1] >= t[(i + 1) * n + j])) put("ins", b[j++]);
      else put("del", a[i++]);
    }
  }

  const said = t => !t.p ? "no reply parsed" : (t.u ? "yes" : "no") + ", " + (t.x ? "end" : "continue") + (t.o ? ", over budget" : "");

  function show(box, turns, i) {
    const t = turns[i];
    let before = null;
    for (let k = i - 1; k >= 0 && before === null; k--) if (turns[k].m !== undefined) before = turns[k].m;
    box.textContent = "";
    box.hidden = false;
    const bar = add(box, "p");
    const step = (label, to) => { const b = add(bar, "button", label); b.disabled = !(to in turns); b.onclick = () => show(box, turns, to); };
    step("◂", i - 1); step("▸", i + 1);
    add(bar, "strong", " turn " + (i + 1) + ": " + said(t));
    add(box, "h4", "memory");
    if (t.m !== undefined) diff(box, before ?? "", t.m);
    else add(box, "p", before === null ? "none, retained" : "retained, " + (t.t || 0) + " tokens", "why");
    (t.c || []).forEach((c, k) => {
      add(box, "h4", "reply, attempt " + (k + 1));
      if (c.e) add(box, "p", "no reply: " + visible(c.e), "why");
      if (c.w) add(box, "p", "does not parse: " + visible(c.w), "why");
      if (c.s) { add(box, "h5", "reasoning"); add(box, "pre", visible(c.s)); }
      add(box, "pre", visible(c.r || ""));
    });
    add(box, "h4", "prompt, with the chunk");
    if (t.q) add(box, "pre", visible(t.q));
    else add(box, "p", "not in the journal: a scripted run keeps its digest, " + (t.d || "none"), "why");
  }

  const tip = add(document.body, "div", "", "tip");
  tip.hidden = true;
  for (const run of document.querySelectorAll("details.run")) {
    const svg = run.querySelector("svg"), box = run.querySelector(".turn");
    const at = e => {
      const box = svg.getBoundingClientRect();
      return Math.floor(((e.clientX - box.left) * svg.viewBox.baseVal.width / box.width - 1) / turnWidth);
    };
    svg.addEventListener("click", async e => {
      e.preventDefault();
      const turns = await data(run.dataset.run), i = at(e);
      if (!(i in turns)) return;
      run.open = true;
      show(box, turns, i);
    });
    svg.addEventListener("mousemove", async e => {
      const turns = await data(run.dataset.run), i = at(e);
      tip.hidden = !(i in turns);
      if (tip.hidden) return;
      tip.textContent = "turn " + (i + 1) + ": " + said(turns[i]) + ", memory " + (turns[i].t || 0) + " tokens";
      tip.style.left = e.clientX + 12 + "px"; tip.style.top = e.clientY + 12 + "px";
    });
    svg.addEventListener("mouseleave", () => { tip.hidden = true; });
    run.addEventListener("toggle", async () => {
      if (!run.open || !box.hidden) return;
      const turns = await data(run.dataset.run);
      if (turns.length) show(box, turns, 0);
    });
  }

  const follow = () => {
    const run = location.hash.startsWith("#run-") && document.getElementById(location.hash.slice(1));
    if (run) { run.open = true; run.scrollIntoView(); }
  };
  addEventListener("hashchange", follow);
  follow();

  const form = document.querySelector("form.filter"), list = document.getElementById("timelines");
  form.hidden = false;
  form.onsubmit = e => e.preventDefault();
  document.getElementById("filter").oninput = e => {
    for (const run of list.children) run.hidden = !run.dataset.run.includes(e.target.value);
  };
  document.getElementById("order").onchange = e => {
    const by = e.target.value;
    const key = r => by === "bad" ? -r.dataset.bad : +r.dataset.order;
    list.append(...[...list.children].sort((a, b) => key(a) - key(b) || a.dataset.order - b.dataset.order));
  };

  for (const table of document.querySelectorAll("table[data-sort]"))
    table.querySelectorAll("thead th").forEach((th, i) => {
      th.dataset.dir = "1";
      th.onclick = () => {
        const dir = th.dataset.dir = -th.dataset.dir, body = table.tBodies[0];
        const value = r => { const s = r.cells[i].textContent; return s !== "" && !isNaN(s) ? +s : s; };
        body.append(...[...body.rows].sort((a, b) => (value(a) > value(b) ? 1 : value(a) < value(b) ? -1 : 0) * dir));
      };
    });
})();
