"use strict";
// The numbers are in #data: values and standard errors of every output, packed by geex/report/pack.py.
const data = JSON.parse(document.getElementById("data").textContent);
const find = (id) => document.getElementById(id);
const FOR = [213, 94, 0];
const AGAINST = [0, 114, 178];
const DOUBT = [140, 140, 140];
const decoded = new Map(); // output number -> {values, errors, order}
let current = 0;
let place = null; // the pixel under the pointer or the keyboard, [row, column]

async function inflate(text) {
  const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

async function decode(number) {
  if (decoded.has(number)) return decoded.get(number);
  const output = data.outputs[number];
  const bytes = await inflate(output.packed);
  const count = data.features;
  const values = new Float64Array(count);
  const errors = new Float64Array(count);
  const sure = new Uint8Array(count); // whether the value stands out from noise
  for (let i = 0; i < count; i++) {
    const whole = ((bytes[i] << 8) | bytes[count + i]) - 32768;
    values[i] = whole * output.step;
    const code = bytes[2 * count + i];
    sure[i] = (bytes[3 * count + (i >> 3)] >> (7 - (i & 7))) & 1;
    errors[i] = code === 0 ? NaN : code === 1 ? 0 : output.errorLow * output.errorRatio ** (code - 2);
  }
  if (output.values) values.set(output.values);
  if (output.errors) errors.set(output.errors.map((error) => error ?? NaN));
  const order = Uint32Array.from(values.keys());
  order.sort((a, b) => Math.abs(values[b] - output.origin) - Math.abs(values[a] - output.origin));
  const result = { values, errors, sure, order };
  decoded.set(number, result);
  return result;
}

function settings() {
  return {
    sign: new FormData(find("controls")).get("sign"),
    strongest: Number(find("strongest").value) / 100,
    opacity: Number(find("opacity").value) / 100,
    sure: find("sure").checked,
    outlined: find("outlined").checked,
  };
}

// What of every feature is shown: 0 nothing, 1 its colour, 2 grey, since it may be noise.
function visible({ values, sure, order }, output, chosen) {
  const shown = new Uint8Array(values.length);
  const count = Math.max(1, Math.round(chosen.strongest * values.length));
  for (const i of order.subarray(0, count)) {
    const value = values[i] - output.origin;
    if (chosen.sign === "for" && value < 0) continue;
    if (chosen.sign === "against" && value >= 0) continue;
    shown[i] = chosen.sure && !sure[i] ? 2 : 1;
  }
  return shown;
}

// as number and with_error in geex/_results/numbers.py
function number(value) {
  const size = Math.abs(value);
  const plain = size === 0 || (size >= 0.001 && size < 1e5);
  const text = size >= 1000 && plain ? Math.round(value).toLocaleString("en") : plain ? String(Number(value.toPrecision(3))) : value.toExponential(1);
  return text.replace("e+", "e").replaceAll("-", "−");
}

function fixed(value, decimals, exponent) {
  const scaled = value / 10 ** exponent;
  const text = scaled.toLocaleString("en", { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
  return Number(text.replaceAll(",", "")) === 0 ? text.replace("-", "") : text.replace("-", "−");
}

function plus(value, text) {
  return value > 0 && /[1-9]/.test(text) ? "+" + text : text;
}

function power(size) {
  return Math.floor(Math.log10(size));
}

// a value with the decimals of its error
function withError(value, error) {
  if (!(error > 0)) return plus(value, number(value)) + (error === 0 ? " ± 0" : "");
  const size = Math.max(Math.abs(value), error);
  const exponent = size >= 1e-3 && size < 1e5 ? 0 : Math.max(3 * Math.floor(Math.log10(size) / 3), -300);
  const decimals = Math.min(Math.max(0, Math.min(1 - power(error), 5 - power(size)) + exponent), 20);
  const text = `${plus(value, fixed(value, decimals, exponent))} ± ${fixed(error, decimals, exponent)}`;
  return exponent ? `(${text}) × 1e${exponent}`.replace("e-", "e−") : text;
}

// the same in a list, whose numbers are all written alike
function listed(value, error) {
  const text = plus(value, fixed(value, data.decimals, data.exponent));
  return Number.isNaN(error) ? text : `${text} ± ${fixed(error, data.decimals, data.exponent)}`;
}

function paint(content, output, chosen) {
  const canvas = find("picture");
  const image = new ImageData(data.width, data.height);
  const shown = visible(content, output, chosen);
  for (let pixel = 0; pixel < data.width * data.height; pixel++) {
    const i = index ? index[pixel] : pixel;
    if (!shown[i]) continue;
    const value = content.values[i] - output.origin;
    const colour = shown[i] === 2 ? DOUBT : value >= 0 ? FOR : AGAINST;
    const amount = chosen.opacity * Math.min(Math.abs(value) / output.limit, 1);
    image.data.set([...colour, Math.round(255 * amount)], 4 * pixel);
  }
  canvas.getContext("2d").putImageData(image, 0, 0);
  const low = output.origin > 0 ? output.origin : -output.limit;
  find("scale-low").textContent = number(low);
  find("scale-high").textContent = "+" + number(output.origin + output.limit);
  find("ramp").classList.toggle("up", output.origin > 0);
}

function tag(name, attributes, text) {
  const svg = ["svg", "rect", "line"].includes(name);
  const element = svg ? document.createElementNS("http://www.w3.org/2000/svg", name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== undefined) element.textContent = text;
  return element;
}

function list(content, output, chosen) {
  const body = find("features");
  const shown = visible(content, output, chosen);
  const drawn = [...content.order].filter((i) => shown[i]);
  const rows = [...drawn.filter((i) => content.sure[i]), ...drawn.filter((i) => !content.sure[i])];
  const ends = (i) => Math.abs(output.centre[i]) + output.reach * (content.errors[i] || 0);
  const reach = (i) => Math.max(Math.abs(content.values[i]), ends(i));
  const limit = Math.max(...[...content.order].slice(0, data.rows).map(reach), ...rows.slice(0, data.rows).map(reach)) || 1;
  body.replaceChildren(
    ...rows.slice(0, data.rows).map((i) => {
      const [value, error] = [content.values[i], content.errors[i]];
      const at = (number) => 50 + (49 * number) / limit;
      const svg = tag("svg", { viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" });
      const look = shown[i] === 2 ? "chance" : value >= 0 ? "positive" : "negative";
      const [left, right] = [Math.min(at(0), at(value)), Math.max(at(0), at(value))];
      svg.append(tag("rect", { x: left, y: 1, width: right - left, height: 8, class: look }));
      svg.append(tag("line", { x1: 50, x2: 50, y1: 0, y2: 10, class: "axis" }));
      const half = output.reach * (error || 0);
      svg.append(tag("line", { x1: at(output.centre[i] - half), x2: at(output.centre[i] + half), y1: 5, y2: 5, class: "whisker" }));
      const row = tag("tr", {});
      const bar = tag("td", { class: "bar" });
      bar.append(svg);
      row.append(tag("th", { scope: "row" }, data.names[i]), bar, tag("td", {}, listed(value, error)));
      return row;
    }),
  );
}

async function draw() {
  const chosen = settings();
  find("strongest-value").textContent = String(Math.round(chosen.strongest * 100));
  find("opacity-value").textContent = String(Math.round(chosen.opacity * 100));
  const output = data.outputs[current];
  const content = await decode(current);
  if (output !== data.outputs[current]) return; // another output was chosen meanwhile
  if (data.width) {
    find("frame").classList.toggle("colours", find("colours").checked);
    paint(content, output, chosen);
    document.querySelectorAll("#outline path").forEach((path) => path.setAttribute("d", chosen.outlined ? output.outline : ""));
    read(content, output);
  } else {
    list(content, output, chosen);
  }
  document.documentElement.dataset.drawn = String(Number(document.documentElement.dataset.drawn || 0) + 1);
}

function describe() {
  const output = data.outputs[current];
  find("lead").textContent = output.lead;
  find("account").textContent = output.account;
  find("sum").replaceChildren(...output.sum.map((part) => tag("span", {}, part)));
  if (data.width) find("picture").setAttribute("aria-label", output.alternative);
  document.querySelectorAll("#ninths tbody td").forEach((cell, i) => {
    cell.textContent = output.ninths[i];
  });
  document.querySelectorAll(".tested").forEach((curve) => {
    curve.hidden = Number(curve.dataset.target) !== output.target;
  });
}

function read(content, output) {
  const cursor = find("cursor");
  cursor.hidden = place === null;
  if (place === null) return;
  const [row, column] = place;
  const pixel = row * data.width + column;
  const i = index ? index[pixel] : pixel;
  Object.assign(cursor.style, {
    left: `${(100 * column) / data.width}%`,
    top: `${(100 * row) / data.height}%`,
    width: `${100 / data.width}%`,
    height: `${100 / data.height}%`,
  });
  const name = data.names.length ? `${data.names[i]} (row ${row}, column ${column})` : `Row ${row}, column ${column}`;
  const value = content.values[i];
  const error = content.errors[i];
  const noise = content.sure[i] ? "" : ", which may be noise";
  const side = value - output.origin >= 0 ? "for" : "against";
  find("readout").textContent = `${name}: ${withError(value, error)}, ${side} “${output.label}”${noise}.`;
}

async function move(row, column) {
  place = [Math.min(Math.max(row, 0), data.height - 1), Math.min(Math.max(column, 0), data.width - 1)];
  read(await decode(current), data.outputs[current]);
}

function point(event) {
  const box = find("picture").getBoundingClientRect();
  const row = Math.floor(((event.clientY - box.top) / box.height) * data.height);
  move(row, Math.floor(((event.clientX - box.left) / box.width) * data.width));
}

function press(event) {
  const step = event.shiftKey ? 10 : 1;
  const ways = { ArrowUp: [-step, 0], ArrowDown: [step, 0], ArrowLeft: [0, -step], ArrowRight: [0, step] };
  const way = ways[event.key];
  if (!way) return;
  event.preventDefault();
  const [row, column] = place || [Math.floor(data.height / 2), Math.floor(data.width / 2)];
  move(row + way[0], column + way[1]);
}

let index = null; // the feature of every pixel, where pixels share features

async function start() {
  if (data.index) {
    index = new Int32Array((await inflate(data.index)).buffer);
  }
  find("controls").addEventListener("input", (event) => {
    if (event.target.name === "output") {
      current = Number(event.target.value);
      describe();
    }
    draw();
  });
  if (data.width) {
    const picture = find("picture");
    find("under").src = find("input").src; // once in the file, twice on the page
    find("under").hidden = false;
    picture.addEventListener("pointermove", point);
    picture.addEventListener("pointerdown", point);
    picture.addEventListener("keydown", press);
    picture.addEventListener("focus", () => place || move(Math.floor(data.height / 2), Math.floor(data.width / 2)));
  }
  describe();
  await draw();
}

start();
