// SPDX-License-Identifier: Apache-2.0
// What all pages are made of: elements, numbers, tables, charts.
'use strict';

/** Colours that people who see colours differently tell apart (Okabe and Ito, 2008). */
const kPalette = ['#0072b2', '#e69f00', '#009e73', '#cc79a7', '#56b4e9', '#d55e00', '#999999', '#f0e442', '#444444'];
/** What tiles do with their time: one order and one colour for each, in all charts. */
const kUses = {
  compute: '#0072b2', operands: '#e69f00', network: '#cc79a7', output: '#f0e442', weights: '#d55e00', memory: '#a33b00',
  host: '#444444', other_operators: '#56b4e9', barrier: '#bbbbbb', idle: '#e5e5e5'
};

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== null) made.setAttribute(key, value);
  }
  for (const child of children.flat()) if (child !== null && child !== undefined) made.append(child);
  return made;
}

/** Four digits, as the console's tables have them or more. */
function format(value) {
  if (value === null || value === undefined) return '-';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value !== 'number') return String(value);
  if (Number.isInteger(value) && Math.abs(value) < 1e15) return value.toLocaleString('en-US');
  if (value !== 0 && (Math.abs(value) < 1e-4 || Math.abs(value) >= 1e9)) return value.toExponential(3);
  return Number(value.toPrecision(4)).toLocaleString('en-US', {maximumSignificantDigits: 4});
}

/** The value under a key with dots; undefined if there is none. */
function lookup(document, key) {
  return key.split('.').reduce((value, part) => (value === null || value === undefined ? undefined : value[part]),
                               document);
}

/** A number that names the key of the JSON from which it comes, and its exact value. */
function shown(value, key, {scale = 1, unit = ''} = {}) {
  const text = typeof value === 'number' ? format(value * scale) : format(value);
  return element('span', {'data-key': key, 'data-value': JSON.stringify(value), 'data-scale': scale},
                 text + (unit ? ' ' + unit : ''));
}

function figures(entries) {
  return element('dl', {class: 'figures'}, entries.filter(e => e.value !== undefined && e.value !== null).map(
    e => element('div', {}, element('dt', {}, e.name), element('dd', {}, shown(e.value, e.key, e)))));
}

/**
 * A table that its head's buttons sort. Columns: {name, value(row), key(row), scale, unit, cell(row)}; the numbers of a
 * column with `key` name where they come from.
 */
function table(columns, rows, {caption = 'Table', mark = () => ''} = {}) {
  const body = element('tbody');
  const is_number = columns.map(c => rows.some(r => typeof c.value(r) === 'number'));
  let order = [...rows.keys()];
  const fill = () => body.replaceChildren(...order.map(index => {
    const row = rows[index];
    return element('tr', {class: mark(row) || null}, columns.map((column, i) => {
      const value = column.value(row);
      const inner = column.cell ? column.cell(row)
                    : column.key && typeof value === 'number' ? shown(value, column.key(row), column)
                    : format(typeof value === 'number' ? value * (column.scale || 1) : value);
      return element(i === 0 ? 'th' : 'td', {class: is_number[i] ? 'number' : null, scope: i === 0 ? 'row' : null}, inner);
    }));
  }));
  const heads = columns.map((column, i) => {
    const button = element('button', {type: 'button'}, column.name + (column.unit ? ' (' + column.unit + ')' : ''));
    const head = element('th', {scope: 'col', 'aria-sort': 'none', class: is_number[i] ? 'number' : null}, button);
    button.addEventListener('click', () => {
      const down = head.getAttribute('aria-sort') === 'ascending';
      heads.forEach(h => h.setAttribute('aria-sort', 'none'));
      head.setAttribute('aria-sort', down ? 'descending' : 'ascending');
      const before = (a, b) => {
        const x = column.value(rows[a]), y = column.value(rows[b]);
        if (x === y) return a - b;
        if (x === null || x === undefined) return 1;
        if (y === null || y === undefined) return -1;
        const less = typeof x === 'number' && typeof y === 'number' ? x - y : String(x).localeCompare(String(y));
        return down ? -less : less;
      };
      order = [...rows.keys()].sort(before);
      fill();
    });
    return head;
  });
  fill();
  return element('div', {class: 'scroll', tabindex: 0, role: 'region', 'aria-label': caption},
                 element('table', {}, element('thead', {}, element('tr', {}, heads)), body));
}

const kLegendColumns = window.innerWidth < 600 ? 2 : 5;
const kConfig = {
  background: null, font: 'system-ui, DejaVu Sans, sans-serif', range: {category: kPalette, heatmap: {scheme: 'cividis'}, ramp: {scheme: 'cividis'}},
  view: {stroke: null}, axis: {labelFontSize: 12, titleFontSize: 12, labelLimit: 220, labelOverlap: 'greedy'}, axisQuantitative: {tickCount: 8}, legend: {labelFontSize: 12}
};
const pending = [];

/** A height of `step` pixels a row of a discrete axis, as a number: it goes together with a width that fits the page. */
function height_of(spec, rows) {
  if (typeof spec.height !== 'object') return spec.height;
  const encoding = spec.encoding || spec.layer[0].encoding;
  const count = channel => (encoding[channel] ? new Set(rows.map(r => r[encoding[channel].field])).size : 1);
  return Math.max(30, spec.height.step * count('y') * count('yOffset'));
}

/**
 * A chart with its numbers as a table below. `spec`: Vega-Lite without data; `rows`: the data. Where the page has no
 * drawing library the table is all there is.
 */
function chart(caption, spec, rows, columns) {
  const drawing = element('div', {class: 'chart', role: 'img', 'aria-label': caption});
  const numbers = element('details', {}, element('summary', {}, 'Numbers of: ' + caption), table(columns, rows, {caption}));
  const figure = element('figure', {}, element('figcaption', {}, caption), drawing, numbers);
  if (typeof vegaEmbed !== 'function') {
    numbers.open = true;
    drawing.remove();
    return figure;
  }
  const whole = {$schema: 'https://vega.github.io/schema/vega-lite/v6.json', width: 'container', config: kConfig,
                 autosize: {type: 'fit-x', contains: 'padding'}, data: {values: rows}, ...spec, height: height_of(spec, rows)};
  pending.push(() => vegaEmbed(drawing, whole, {renderer: 'svg', actions: {export: true, source: false, compiled: false, editor: false}})
    .then(result => { drawing.view = result.view; }));
  return figure;
}

/** Draws the charts that are in the document; the promise holds when all are. */
function draw() {
  return Promise.all(pending.splice(0).map(start => start()));
}

function picker(label, choices, chosen) {
  const select = element('select', {}, choices.map(([value, text]) => element('option', {value}, text)));
  select.addEventListener('change', () => { chosen(select.value); draw(); });
  return element('label', {class: 'picker'}, label, select);
}

let sections_made = 0;
/** A section with its link in the navigation. */
function section(title, ...children) {
  const id = 'section-' + ++sections_made;
  return element('section', {id, 'aria-labelledby': id + '-title', 'data-title': title}, element('h2', {id: id + '-title'}, title), children);
}

function show(title, subtitle, sections) {
  document.getElementById('title').textContent = title;
  document.getElementById('subtitle').textContent = subtitle;
  const kept = sections.filter(s => s);
  document.getElementById('content').replaceChildren(...kept);
  document.getElementById('sections').replaceChildren(
    ...kept.filter(s => s.id).map(s => element('a', {href: '#' + s.id}, s.dataset.title)));
  return draw();
}
