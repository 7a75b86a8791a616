"use strict";
// The time line: ranks as rows, calls by cause, messages as lines. Reads #timeline-data.
(function () {
  const source = document.getElementById("timeline-data");
  if (!source) return;
  const data = JSON.parse(source.textContent);
  const arrayOf = { u1: Uint8Array, u4: Uint32Array, i4: Int32Array, f4: Float32Array, u2: Uint16Array };
  const bytes = coded => Uint8Array.from(atob(coded), letter => letter.charCodeAt(0));
  const column = (name, kind) => new arrayOf[kind](bytes(data[name]).buffer);
  const calls = { rank: column("rank", "u4"), enter: column("enter", "u4"), exit: column("exit", "u4"), place: column("place", "u2"),
    parts: column("parts", "u1"), late: column("late", "f4"), bytes: column("bytes", "f4"), peer: column("peer", "i4"), thread: column("thread", "u1") };
  const sent = { send: column("m_send", "u4"), receive: column("m_receive", "u4"), wait: column("m_wait", "i4"), end: column("m_end", "u4"), bytes: column("m_bytes", "f4"),
    fate: column("m_fate", "u1"), reason: column("m_reason", "u1"), late: column("m_late", "f4"), inside: column("m_inside", "f4"), span: column("m_window", "f4"),
    other: column("m_other", "i4"), x: column("m_x", "f4"), hidden: column("m_hidden", "f4") };
  const count = calls.enter.length, messages = sent.send.length, unit = data.unit_ns;
  const rows = new Map(data.ranks.map((rank, row) => [rank, row]));
  const CAUSES = data.causes.map(c => c[0]), FULL = 250;
  const FATES = ["hidden", "exposed", "stalled", "late", "unattributed"];
  const canvas = document.querySelector("#timeline canvas"), context = canvas.getContext("2d");
  const tip = document.getElementById("tip"), why = document.getElementById("why");
  const LEFT = 58, TOP = 24, TALLEST = 560;
  const rowHeight = Math.max(9, Math.min(46, Math.floor((TALLEST - TOP) / data.ranks.length)));
  const shown = Math.min(TALLEST, TOP + rowHeight * data.ranks.length + 6);
  const showing = FATES.map(() => true);
  let first = 0, last = 1, top = 0, chosen = -1, hovered = null, pending = false, width = 0, colours = {};
  const edge = { first: 0, last: 1 };
  for (let i = 0; i < count; i++) edge.last = Math.max(edge.last, calls.exit[i]);
  // The whole run, then ever less around the iteration: shares of time in equal stretches.
  const since = ns => (ns - data.origin_ns) / unit;
  const kept = { first: since(data.kept[0]), last: since(data.kept[1]) };
  const levels = data.levels.map(level => ({ ...level, first: since(level.begin_ns), last: since(level.end_ns), shares: bytes(level.shares), image: null }));
  if (levels.length) { edge.first = levels[0].first; edge.last = Math.max(levels[0].last, edge.last); }

  const figures = v => Math.abs(v) >= 100 ? v.toLocaleString("en-US", { maximumFractionDigits: 0 }) : String(Number(v.toPrecision(3)));
  const scale = v => { const a = Math.abs(v); return a > 0 && a < 1e3 ? [1, "ns"] : a > 0 && a < 1e6 ? [1e-3, "us"] : a > 0 && a < 1e9 ? [1e-6, "ms"] : [1e-9, "s"]; };
  const time = ns => { const [f, u] = scale(ns); return figures(ns * f) + " " + u; };
  const between = (low, high) => { const [f, u] = scale(high), a = figures(low * f), b = figures(high * f); return a === b ? b + " " + u : a + " to " + b + " " + u; };
  const amount = b => { for (const u of ["B", "KiB", "MiB", "GiB"]) { if (b < 1024) return (u === "B" ? b.toFixed(0) : b.toFixed(1)) + " " + u; b /= 1024; } return b.toFixed(1) + " TiB"; };
  const name = i => data.places[calls.place[i]][0] + " at " + data.places[calls.place[i]][1];
  const explain = m => {
    const values = { sender: calls.rank[sent.send[m]], receiver: calls.rank[sent.receive[m]], other: sent.other[m], send: name(sent.send[m]), receive: name(sent.receive[m]),
      wait: sent.wait[m] >= 0 ? name(sent.wait[m]) : "the call that completed it", late: time(sent.late[m]), inside: time(sent.inside[m]), window: time(sent.span[m]),
      x: between(sent.x[2 * m], sent.x[2 * m + 1]), hidden: time(sent.hidden[2 * m]), hidden_max: time(sent.hidden[2 * m + 1]) };
    return data.reasons[sent.reason[m]].replace(/\{(\w+)\}/g, (whole, key) => values[key]);
  };
  const title = m => amount(sent.bytes[m]) + " from rank " + calls.rank[sent.send[m]] + " to rank " + calls.rank[sent.receive[m]] + ": " + data.fates[sent.fate[m]];
  const described = i => {
    const lines = [name(i), "rank " + calls.rank[i] + (calls.thread[i] ? ", thread " + calls.thread[i] : "") + ", " + time((calls.exit[i] - calls.enter[i]) * unit)];
    if (calls.bytes[i] > 0) lines.push(amount(calls.bytes[i]));
    CAUSES.forEach((cause, k) => { const part = calls.parts[i * CAUSES.length + k] / FULL; if (part >= 0.02) lines.push(data.causes[k][1] + " " + time(part * (calls.exit[i] - calls.enter[i]) * unit)); });
    if (calls.peer[i] >= 0 && calls.late[i] > 0) lines.push("rank " + calls.peer[i] + " came last, " + time(calls.late[i]) + " late");
    const late = lateIn.get(i);
    if (late !== undefined) lines.push("waited for rank " + calls.rank[sent.send[late]] + ", " + time(sent.late[late]) + " late");
    return lines.join("\n");
  };
  // The message that a completing call waited for longest.
  const lateIn = new Map();
  for (let m = 0; m < messages; m++) {
    if (sent.wait[m] < 0 || sent.reason[m] !== 1) continue;
    const before = lateIn.get(sent.wait[m]);
    if (before === undefined || sent.late[m] > sent.late[before]) lateIn.set(sent.wait[m], m);
  }

  const x = t => LEFT + (t - first) / (last - first) * (width - LEFT);
  const back = px => first + (px - LEFT) / (width - LEFT) * (last - first);
  const y = rank => TOP + rows.get(rank) * rowHeight - top;
  const bar = Math.max(5, Math.round(rowHeight * 0.46));
  function read() {
    const style = getComputedStyle(document.documentElement);
    levels.forEach(level => { level.image = null; });
    for (const n of ["compute", "open", "ink", "soft", "line", "paper", "raised", ...CAUSES, ...FATES]) colours[n] = style.getPropertyValue("--" + n).trim();
  }
  function axis() {
    const span = (last - first) * unit, rough = span / 6, power = Math.pow(10, Math.floor(Math.log10(rough)));
    const step = [1, 2, 5, 10].map(f => f * power).find(s => s >= rough);
    const origin = data.origin_ns + first * unit, [factor, unitName] = scale(data.origin_ns + last * unit);
    const digits = Math.max(0, Math.min(9, Math.ceil(-Math.log10(step * factor) - 1e-9)));
    context.fillStyle = colours.soft; context.font = "12px system-ui, sans-serif"; context.textAlign = "center";
    for (let t = Math.ceil(origin / step) * step; t < origin + span; t += step) {
      const px = x((t - data.origin_ns) / unit);
      context.fillStyle = colours.line; context.fillRect(Math.round(px), TOP - 6, 1, shown);
      context.fillStyle = colours.soft;
      if (px > LEFT + 30 && px < width - 30) context.fillText((t * factor).toFixed(digits) + " " + unitName, px, 13);
    }
  }
  // A level as a picture: a column for each stretch, TALL rows for each rank, parts one upon another.
  const TALL = 16;
  function painted(level) {
    if (level.image) return level.image;
    const picture = document.createElement("canvas"), n = level.stretches, parts = level.intervals.length;
    picture.width = n; picture.height = TALL * data.ranks.length;
    const pixels = picture.getContext("2d"), out = pixels.createImageData(n, picture.height), words = new Uint32Array(out.data.buffer);
    const rgba = name => { const c = name === "unlogged" ? colours.line : colours[name], [r, g, b] = [1, 3, 5].map(at => parseInt(c.slice(at, at + 2), 16)); return ((name === "compute" ? 128 : 255) << 24 | b << 16 | g << 8 | r) >>> 0; };
    const paint = level.intervals.map(rgba), rest = rgba("compute");
    for (let row = 0; row < data.ranks.length; row++) for (let k = 0; k < n; k++) {
      let filled = 0, sum = 0;
      const put = (colour, to) => { for (; filled < to; filled++) words[(row * TALL + TALL - 1 - filled) * n + k] = colour; };
      for (let p = 0; p < parts; p++) { sum += level.shares[(row * n + k) * parts + p]; put(paint[p], Math.min(TALL, Math.round(sum / FULL * TALL))); }
      put(rest, TALL);
    }
    pixels.putImageData(out, 0, 0);
    return level.image = picture;
  }
  function drawLevels() {
    for (const level of levels) {
      const from = Math.max(first, level.first), to = Math.min(last, level.last), scale = level.stretches / (level.last - level.first);
      if (to <= from) continue;
      const picture = painted(level), at = (from - level.first) * scale, many = (to - from) * scale;
      context.imageSmoothingEnabled = many > x(to) - x(from);
      context.clearRect(x(from), TOP, x(to) - x(from), shown); context.fillStyle = colours.paper; context.fillRect(x(from), TOP, x(to) - x(from), shown);
      data.ranks.forEach((rank, row) => {
        const py = y(rank);
        if (py > -rowHeight && py < shown) context.drawImage(picture, at, row * TALL, many, TALL, x(from), py + (rowHeight - bar) / 2, x(to) - x(from), bar);
      });
    }
  }
  // Single calls are drawn where they are wide enough to be told apart.
  const single = () => !levels.length || x(kept.last) - x(kept.first) >= 40;
  function mark() {
    if (!levels.length || (first >= kept.first && last <= kept.last)) return;
    const from = Math.max(LEFT, x(kept.first)), to = Math.min(width, x(kept.last));
    context.fillStyle = colours.ink;
    if (to > LEFT && from < width) context.fillRect(Math.min(from, width - 3), TOP - 5, Math.max(3, to - from), 3);
  }
  function stretchAt(px, py) {
    const row = Math.floor((py - TOP + top) / rowHeight), t = back(px);
    const level = levels.filter(l => t >= l.first && t < l.last).pop();
    if (!level || row < 0 || row >= data.ranks.length || px < LEFT || py < TOP) return "";
    const length = (level.last - level.first) / level.stretches, k = Math.floor((t - level.first) / length);
    const begin = data.origin_ns + (level.first + k * length) * unit, parts = level.intervals.length, base = (row * level.stretches + k) * parts;
    const lines = ["rank " + data.ranks[row] + ", " + time(length * unit) + " from " + (begin / 1e9).toPrecision(6) + " s"];
    const phraseOf = kind => kind === "open" ? "transfer or stalled, or not certain which" : kind === "unlogged" ? "not logged" : data.causes[CAUSES.indexOf(kind)][1];
    let rest = FULL;
    level.intervals.forEach((kind, p) => { const share = level.shares[base + p]; rest -= share; if (share >= 0.01 * FULL) lines.push(phraseOf(kind) + " " + Math.round(100 * share / FULL) + " %"); });
    if (rest > 0.01 * FULL) lines.push("compute " + Math.round(100 * rest / FULL) + " %");
    return lines.join("\n");
  }
  // Calls narrower than a pixel share it: what took most of it colours it.
  function drawCalls() {
    const widths = new Float64Array(CAUSES.length + 1), at = new Int32Array(data.ranks.length).fill(-1);
    context.fillStyle = colours.compute;
    for (const rank of data.ranks) {
      const py = y(rank);
      if (py > -rowHeight && py < shown) { context.globalAlpha = 0.5; context.fillRect(LEFT, py + (rowHeight - bar) / 2, width - LEFT, bar); context.globalAlpha = 1; }
    }
    for (let i = 0; i < count; i++) {
      if (calls.exit[i] < first || calls.enter[i] > last) continue;
      const row = rows.get(calls.rank[i]), py = TOP + row * rowHeight - top + (rowHeight - bar) / 2;
      if (py < -rowHeight || py > shown) continue;
      let from = Math.max(LEFT, x(calls.enter[i])), to = Math.min(width, x(calls.exit[i])), long = to - from;
      if (long < 1) {
        const px = Math.floor(from);
        if (at[row] === px) continue;
        at[row] = px;
      }
      let begin = x(calls.enter[i]), rest = FULL;
      const whole = x(calls.exit[i]) - begin;
      for (let k = 0; k < CAUSES.length; k++) {
        const part = calls.parts[i * CAUSES.length + k];
        if (!part) continue;
        rest -= part;
        piece(colours[CAUSES[k]], begin, begin + whole * part / FULL, py);
        begin += whole * part / FULL;
      }
      if (rest > 2) piece(colours.open, begin, x(calls.exit[i]), py);
    }
  }
  function piece(colour, from, to, py) {
    from = Math.max(LEFT, from); to = Math.min(width, to);
    if (to < LEFT || from > width) return;
    context.fillStyle = colour; context.fillRect(from, py, Math.max(0.8, to - from), bar);
  }
  const ends = m => [x(calls.enter[sent.send[m]]), y(calls.rank[sent.send[m]]) + rowHeight / 2, x(sent.end[m]), y(calls.rank[sent.receive[m]]) + rowHeight / 2];
  const visible = m => showing[sent.fate[m]] && sent.end[m] >= first && calls.enter[sent.send[m]] <= last;
  function drawMessages() {
    let seen = 0;
    for (let m = 0; m < messages; m++) seen += visible(m) ? 1 : 0;
    // A rim of the page's colour sets a line off against the bars that it crosses.
    const few = seen <= 300;
    context.globalAlpha = few ? 1 : Math.max(0.12, 200 / seen);
    if (few) { context.lineWidth = 4; context.strokeStyle = colours.paper; for (let m = 0; m < messages; m++) if (visible(m) && m !== chosen) line(m); }
    context.lineWidth = few ? 1.7 : 1;
    for (let m = 0; m < messages; m++) if (visible(m) && m !== chosen) stroke(m);
    context.globalAlpha = 1;
    if (chosen >= 0) { context.lineWidth = 7; context.strokeStyle = colours.ink; line(chosen); context.lineWidth = 4; stroke(chosen); }
  }
  function line(m) { const [ax, ay, bx, by] = ends(m); context.beginPath(); context.moveTo(ax, ay); context.lineTo(bx, by); context.stroke(); }
  function stroke(m) { context.strokeStyle = colours[FATES[sent.fate[m]]]; line(m); }
  function draw() {
    pending = false;
    const ratio = devicePixelRatio || 1;
    width = canvas.clientWidth;
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(shown * ratio)) { canvas.width = Math.round(width * ratio); canvas.height = Math.round(shown * ratio); canvas.style.height = shown + "px"; }
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.fillStyle = colours.paper; context.fillRect(0, 0, width, shown);
    axis();
    context.save(); context.beginPath(); context.rect(LEFT, TOP, width - LEFT, shown - TOP); context.clip();
    drawLevels();
    if (single()) {
      if (levels.length) { const from = x(kept.first), to = x(kept.last); context.beginPath(); context.rect(from, TOP, to - from, shown); context.clip(); context.fillStyle = colours.paper; context.fillRect(from, TOP, to - from, shown); }
      drawCalls(); drawMessages();
    }
    context.restore();
    mark();
    context.fillStyle = colours.soft; context.textAlign = "right"; context.font = Math.min(12, rowHeight + 1) + "px system-ui, sans-serif";
    const every = Math.ceil(12 / rowHeight);
    data.ranks.forEach((rank, row) => { const py = TOP + row * rowHeight - top; if (row % every === 0 && py >= TOP - 1 && py < shown) context.fillText((row === 0 ? "rank " : "") + rank, LEFT - 6, py + rowHeight / 2 + 4); });
    canvas.dataset.first = String(first); canvas.dataset.last = String(last);
  }
  function redraw() { if (!pending) { pending = true; requestAnimationFrame(draw); } }

  function show(a, b) {
    const least = Math.max(8 / unit, 1), span = Math.max(least, Math.min(b - a, edge.last - edge.first)), middle = (a + b) / 2;
    first = middle - span / 2; last = middle + span / 2;
    if (first < edge.first) { last += edge.first - first; first = edge.first; }
    if (last > edge.last) { first -= last - edge.last; last = edge.last; }
    first = Math.max(edge.first, first); redraw();
  }
  const zoom = (factor, at) => { at = at === undefined ? (first + last) / 2 : at; show(at - (at - first) * factor, at + (last - at) * factor); };
  const pan = share => show(first + share * (last - first), last + share * (last - first));
  const scroll = by => { top = Math.max(0, Math.min(top + by, TOP + rowHeight * data.ranks.length + 6 - shown)); redraw(); };
  const jump = (a, b) => show((a - data.origin_ns) / unit, (b - data.origin_ns) / unit);
  const home = () => { top = 0; const row = rows.get(calls.rank[0]); jump(data.open[0], data.open[1]); if (shown < TOP + rowHeight * data.ranks.length) scroll((rows.get(data.rank_of_iteration) || row || 0) * rowHeight - shown / 2); };

  const near = (m, px, py) => { const [ax, ay, bx, by] = ends(m), dx = bx - ax, dy = by - ay; const t = Math.max(0, Math.min(1, ((px - ax) * dx + (py - ay) * dy) / (dx * dx + dy * dy || 1))); return Math.hypot(ax + t * dx - px, ay + t * dy - py); };
  function messageAt(px, py) { if (!single()) return -1; let best = -1, least = 6; for (let m = 0; m < messages; m++) if (visible(m)) { const d = near(m, px, py); if (d < least) { least = d; best = m; } } return best; }
  function callAt(px, py) {
    const row = Math.floor((py - TOP + top) / rowHeight), t = back(px), slack = 2 * (last - first) / Math.max(1, width);
    if (row < 0 || row >= data.ranks.length || px < LEFT || !single() || (levels.length && (t < kept.first || t > kept.last))) return -1;
    const rank = data.ranks[row];
    let found = -1, least = Infinity;
    for (let i = 0; i < count; i++) if (calls.rank[i] === rank && t >= calls.enter[i] - slack && t <= calls.exit[i] + slack) { const d = Math.max(0, calls.enter[i] - t, t - calls.exit[i]); if (d < least) { least = d; found = i; } }
    return found;
  }
  function choose(m) {
    chosen = m;
    why.replaceChildren();
    const add = (kind, text) => { const e = document.createElement(kind); e.textContent = text; why.append(e); return e; };
    if (m < 0) { add("p", why.dataset.empty); redraw(); return; }
    add("h3", title(m)); add("p", explain(m));
    add("p", "Sent by " + name(sent.send[m]) + ", received by " + name(sent.receive[m]) + (sent.wait[m] >= 0 && sent.wait[m] !== sent.receive[m] ? ", complete in " + name(sent.wait[m]) : "") + ". From the begin of the send to the end of the receive: " + time((sent.end[m] - calls.enter[sent.send[m]]) * unit) + ".").className = "soft";
    redraw();
  }
  // Through the messages in view, by the moment at which they begin.
  function step(by) {
    const order = [];
    for (let m = 0; m < messages; m++) if (visible(m)) order.push(m);
    if (!order.length) return;
    order.sort((a, b) => calls.enter[sent.send[a]] - calls.enter[sent.send[b]] || a - b);
    const at = order.indexOf(chosen);
    choose(order[at < 0 ? (by > 0 ? 0 : order.length - 1) : (at + by + order.length) % order.length]);
  }

  const place = event => { const box = canvas.getBoundingClientRect(); return [event.clientX - box.left, event.clientY - box.top]; };
  let held = null;
  canvas.addEventListener("pointerdown", event => { const [px, py] = place(event); held = { px, py, first, last, top, moved: false }; canvas.setPointerCapture(event.pointerId); canvas.focus({ preventScroll: true }); });
  canvas.addEventListener("pointermove", event => {
    const [px, py] = place(event);
    if (held) {
      if (Math.hypot(px - held.px, py - held.py) > 4) held.moved = true;
      if (held.moved) { const by = (held.px - px) / (width - LEFT) * (held.last - held.first); top = held.top; show(held.first + by, held.last + by); scroll(held.py - py); tip.hidden = true; }
      return;
    }
    const m = messageAt(px, py), i = m < 0 ? callAt(px, py) : -1, during = m < 0 && i < 0 && (!single() || back(px) < kept.first || back(px) > kept.last) ? stretchAt(px, py) : "";
    tip.hidden = m < 0 && i < 0 && !during;
    if (m >= 0) tip.textContent = title(m) + (sent.late[m] > 0 && sent.fate[m] === 3 ? "\n" + time(sent.late[m]) + " late" : "") + "\n" + name(sent.send[m]) + "\nclick: why?";
    else if (i >= 0) tip.textContent = described(i);
    else tip.textContent = during;
    if (!tip.hidden) { tip.style.left = Math.max(4, Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8)) + "px"; tip.style.top = Math.max(4, Math.min(event.clientY + 14, innerHeight - tip.offsetHeight - 8)) + "px"; }
  });
  canvas.addEventListener("pointerup", event => { const [px, py] = place(event); if (held && !held.moved) choose(messageAt(px, py)); held = null; });
  canvas.addEventListener("pointercancel", () => { held = null; });
  canvas.addEventListener("pointerleave", () => { tip.hidden = true; });
  canvas.addEventListener("dblclick", event => zoom(0.4, back(place(event)[0])));
  canvas.addEventListener("wheel", event => {
    if (document.activeElement !== canvas && !event.ctrlKey) return; // the page scrolls until the time line is clicked
    event.preventDefault();
    if (event.shiftKey) scroll(event.deltaY); else if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) pan(event.deltaX / width); else zoom(Math.exp(event.deltaY * 0.002), back(place(event)[0]));
  }, { passive: false });
  const keys = { ArrowLeft: () => pan(-0.2), ArrowRight: () => pan(0.2), ArrowUp: () => scroll(-rowHeight), ArrowDown: () => scroll(rowHeight), "+": () => zoom(0.6), "=": () => zoom(0.6), "-": () => zoom(1 / 0.6),
    Home: home, End: () => show(edge.first, edge.last), n: () => step(1), p: () => step(-1), Escape: () => choose(-1) };
  canvas.addEventListener("keydown", event => { const act = keys[event.key]; if (act && !event.ctrlKey && !event.metaKey && !event.altKey) { event.preventDefault(); act(); } });
  document.querySelectorAll("[data-do]").forEach(button => button.addEventListener("click", () => keys[button.dataset.do]()));
  document.querySelectorAll("[data-fate]").forEach(button => button.addEventListener("click", () => { const k = Number(button.dataset.fate); showing[k] = !showing[k]; button.setAttribute("aria-pressed", String(showing[k])); redraw(); }));
  document.querySelectorAll("[data-jump]").forEach(button => button.addEventListener("click", () => { const [a, b] = button.dataset.jump.split(" ").map(Number); jump(a, b); document.getElementById("timeline").scrollIntoView(); canvas.focus({ preventScroll: true }); }));
  addEventListener("resize", redraw);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { read(); redraw(); });
  // Tests and curious users: where a message is drawn, and what is said of it.
  window.imbrexTimeline = { draw, ends, explain, choose, count, messages, chosen: () => chosen, view: () => [first, last], show,
    opens: () => data.open.map(since), levels: levels.length, single };
  read(); width = canvas.clientWidth; home(); choose(-1); draw();
})();
