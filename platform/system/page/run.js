// SPDX-License-Identifier: Apache-2.0
// A run: what bounds it, its pipeline, its places, kernels, routes, energy and what the figures are worth.
'use strict';

const kShareAxis = {type: 'quantitative', axis: {format: '.0%'}, scale: {domain: [0, 1]}};

/** Long form of {name: share} mappings for stacked bars. */
function share_rows(named) {
  return named.flatMap(([bar, shares, key]) => Object.entries(shares).map(
    ([use, share]) => ({bar, use, share, key: key + '.' + use, order: Object.keys(kUses).indexOf(use)})));
}

function share_chart(caption, named, {bars = 'tiles', height = 22} = {}) {
  const rows = share_rows(named);
  const present = Object.keys(kUses).filter(use => rows.some(r => r.use === use));
  return chart(caption, {
    height: {step: height}, mark: {type: 'bar', stroke: '#ffffff', strokeWidth: 0.5},
    encoding: {
      y: {field: 'bar', type: 'nominal', sort: null, title: null},
      x: {field: 'share', ...kShareAxis, title: 'share of the time', stack: 'zero'},
      color: {field: 'use', type: 'nominal', title: null, scale: {domain: present, range: present.map(u => kUses[u])},
              legend: {orient: 'top', columns: kLegendColumns}},
      order: {field: 'order', type: 'quantitative'},
      tooltip: [{field: 'bar', title: bars}, {field: 'use'}, {field: 'share', format: '.2%'}]
    }
  }, rows, [
    {name: bars, value: r => r.bar}, {name: 'what', value: r => r.use},
    {name: 'share', unit: '%', scale: 100, value: r => r.share, key: r => r.key}
  ]);
}

function bounds_section(report, at) {
  const bounds = report.bounds;
  if (!bounds) return null;
  const sum = Object.values(bounds.chip).reduce((a, b) => a + b, 0);
  return section('What bounds it',
    element('p', {}, 'The run is bound by ', element('strong', {'data-key': at + 'bounds.bound', 'data-value': JSON.stringify(bounds.bound), 'data-scale': 1}, bounds.bound),
      ': ', shown(bounds.share, at + 'bounds.share', {scale: 100, unit: '%'}), ' of the tiles’ time, when waits for other operators are followed to their causes. The counted shares add up to ',
      element('span', {id: 'bounds-sum'}, format(100 * sum) + ' %'), '.'),
    share_chart('The time of all tiles', [['counted', bounds.chip, at + 'bounds.chip'], ['causes', bounds.causes, at + 'bounds.causes']], {height: 34}),
    element('p', {class: 'note'}, 'operands: the operator before has not sent yet. network: data on their way. output: no free slot at the consumer. weights, memory: HBM has not sent, or not acknowledged. barrier: other tiles of the segment still work. idle: no operator in the segment. host: no batch on the chip.'));
}

function pipeline_section(report, at) {
  const stages = report.bounds && report.bounds.stages;
  if (!stages || stages.length === 0) return null;
  const segments = [...new Set(stages.map(s => s.segment))].sort((a, b) => a - b);
  const place = element('div');
  const fill = segment => {
    const members = stages.map((stage, index) => ({stage, index})).filter(s => s.stage.segment === segment);
    place.replaceChildren(
      share_chart('Segment ' + segment + ': stages in the order of the network',
        members.map(m => [m.stage.operator + ' (' + m.stage.tiles + ')', m.stage.shares, at + 'bounds.stages.' + m.index + '.shares']), {bars: 'stage (tiles)', height: 16}),
      element('h3', {}, 'Whom the stages wait for'),
      table([
        {name: 'stage', value: r => r.stage}, {name: 'waits for', value: r => r.peer}, {name: 'kind', value: r => r.kind},
        {name: 'share of its time', unit: '%', scale: 100, value: r => r.share, key: r => r.key}
      ], members.flatMap(m => m.stage.waits_for.map((w, i) => ({
        stage: m.stage.operator, peer: w.operator, kind: w.for, share: w.share, key: at + 'bounds.stages.' + m.index + '.waits_for.' + i + '.share'
      }))), {caption: 'Waits between stages'}));
  };
  fill(segments[0]);
  return section('Pipeline of each segment',
    segments.length > 1 ? picker('Segment', segments.map(s => [s, String(s)]), value => fill(Number(value))) : null, place);
}

/** Tiles as squares and links as lines between them; a link that closes a ring is drawn as a stub on both sides. */
function places_section(report, at) {
  if (!report.tiles || !report.links) return null;
  const columns = report.platform.columns, rows = report.platform.rows;
  const tiles = element('div');
  const fill = what => tiles.replaceChildren(chart('Tiles: share of the run in which the ' + what.replace('_', ' ') + ' is busy', {
    height: {step: Math.max(14, Math.min(34, 340 / columns))}, mark: {type: 'rect', stroke: '#ffffff'},
    encoding: {
      x: {field: 'column', type: 'ordinal', axis: {labelAngle: 0}}, y: {field: 'row', type: 'ordinal'},
      color: {field: 'busy', type: 'quantitative', title: 'busy', legend: {format: '.0%'}, scale: {scheme: 'cividis'}},
      tooltip: [{field: 'tile'}, {field: 'busy', format: '.2%'}]
    }
  }, report.tiles[what].map((busy, tile) => ({tile, column: tile % columns, row: Math.floor(tile / columns), busy, key: at + 'tiles.' + what + '.' + tile})), [
    {name: 'tile', value: r => r.tile}, {name: 'busy', unit: '%', scale: 100, value: r => r.busy, key: r => r.key}
  ]));
  fill('kernel');
  const grid = {mesh: [columns, rows]};
  const routers = 1 + Math.max(...report.links.from, ...report.links.to);
  const wide = grid.mesh[0];
  const links = report.links.from.map((from, i) => {
    const to = report.links.to[i], x = from % wide, y = Math.floor(from / wide);
    let dx = to % wide - x, dy = Math.floor(to / wide) - y;
    if (Math.abs(dx) > 1) dx = -Math.sign(dx) * 0.5;
    if (Math.abs(dy) > 1) dy = -Math.sign(dy) * 0.5;
    // The two directions of a link lie side by side.
    const side = 0.14, ox = dy > 0 ? side : dy < 0 ? -side : 0, oy = dx > 0 ? -side : dx < 0 ? side : 0;
    return {from, to, busy: report.links.busy[i], x: x + ox + dx * 0.12, y: y + oy + dy * 0.12, x2: x + ox + dx * 0.88, y2: y + oy + dy * 0.88, key: at + 'links.busy.' + i};
  });
  const link_chart = chart('Links between routers: share of the run in which they are busy', {
    height: Math.max(160, Math.min(420, 34 * Math.ceil(routers / wide))), mark: {type: 'rule', strokeWidth: 5, strokeCap: 'butt'},
    encoding: {
      x: {field: 'x', type: 'quantitative', title: 'column', axis: {grid: false, tickMinStep: 1}, scale: {domain: [-0.6, wide - 0.4], nice: false}},
      y: {field: 'y', type: 'quantitative', title: 'row', axis: {grid: false, tickMinStep: 1}, scale: {domain: [-0.6, Math.ceil(routers / wide) - 0.4], reverse: true, nice: false}},
      x2: {field: 'x2'}, y2: {field: 'y2'},
      color: {field: 'busy', type: 'quantitative', title: 'busy', legend: {format: '.0%'}, scale: {scheme: 'cividis'}},
      tooltip: [{field: 'from'}, {field: 'to'}, {field: 'busy', format: '.2%'}]
    }
  }, links, [
    {name: 'from router', value: r => r.from}, {name: 'to', value: r => r.to},
    {name: 'busy', unit: '%', scale: 100, value: r => r.busy, key: r => r.key}
  ]);
  return section('Tiles and links',
    picker('Show', Object.keys(report.tiles).map(k => [k, k.replace('_', ' ')]), fill), element('div', {class: 'two'}, tiles, link_chart));
}

function kernels_section(report, at) {
  const operators = (report.operators || []).map((op, index) => ({op, index})).filter(o => o.op.kernels && o.op.kernels.length > 0);
  if (operators.length === 0) return null;
  const dynamic = operators.filter(o => o.op.kernels.length > 1);
  const rows = (dynamic.length > 0 ? dynamic : operators).flatMap(o => {
    const sum = o.op.kernels.reduce((a, k) => a + k.invocations, 0);
    return o.op.kernels.map((k, i) => ({operator: o.op.operator, dyn_dim: k.dyn_dim, invocations: k.invocations, share: k.invocations / sum, key: at + 'operators.' + o.index + '.kernels.' + i + '.invocations'}));
  });
  return section('Kernels selected against dyn_dim',
    element('p', {class: 'note'}, dynamic.length > 0 ? 'Operators with more than one kernel: how often each was selected. 0: no sample reached the operator.' : 'No operator has more than one kernel.'),
    chart('Share of an operator’s invocations by the dyn_dim of the selected kernel', {
      height: {step: 13}, mark: {type: 'rect', stroke: '#ffffff', strokeWidth: 0.5},
      encoding: {
        x: {field: 'dyn_dim', type: 'ordinal', axis: {labelAngle: 0}}, y: {field: 'operator', type: 'nominal', sort: null, title: null},
        color: {field: 'share', type: 'quantitative', title: 'share', legend: {format: '.0%'}, scale: {scheme: 'cividis'}},
        tooltip: [{field: 'operator'}, {field: 'dyn_dim'}, {field: 'invocations'}, {field: 'share', format: '.1%'}]
      }
    }, rows, [
      {name: 'operator', value: r => r.operator}, {name: 'dyn_dim of the kernel', value: r => r.dyn_dim},
      {name: 'invocations', value: r => r.invocations, key: r => r.key}
    ]),
    element('h3', {}, 'Operators'),
    table([
      {name: 'operator', value: r => r.op.operator}, {name: 'kind', value: r => r.op.kind}, {name: 'segment', value: r => r.op.segment},
      {name: 'switch', value: r => r.op.switch || ''}, {name: 'tiles', value: r => r.op.tiles, key: r => at + 'operators.' + r.index + '.tiles'},
      {name: 'samples a batch', value: r => r.op.samples_per_batch, key: r => at + 'operators.' + r.index + '.samples_per_batch'},
      {name: 'MACs', value: r => r.op.macs, key: r => at + 'operators.' + r.index + '.macs'}
    ], operators, {caption: 'Operators'}));
}

function routes_section(report, at) {
  if (!report.routing) return null;
  const rows = [];
  for (const [name, value] of Object.entries(report.counters || {})) {
    const found = /^network_interface\.switch_(\d+)_branch_(\d+)_samples$/.exec(name);
    if (found) rows.push({switch: Number(found[1]), branch: found[2], samples: value, key: at + 'counters.' + name});
  }
  rows.sort((a, b) => a.switch - b.switch || a.branch - b.branch);
  return section('Routes',
    element('p', {}, 'Source of the routes: ', shown(report.routing.source, at + 'routing.source'),
      report.routing.seed === undefined ? '' : ', seed ', report.routing.seed === undefined ? '' : shown(report.routing.seed, at + 'routing.seed'), '.'),
    rows.length === 0 ? null : chart('Samples that took each branch of each switch, in the run', {
      height: 200, mark: 'bar',
      encoding: {
        x: {field: 'switch', type: 'ordinal', axis: {labelAngle: 0}}, y: {field: 'samples', type: 'quantitative', stack: 'zero'},
        color: {field: 'branch', type: 'nominal', scale: {range: kPalette}, legend: {orient: 'top', columns: kLegendColumns}},
        tooltip: [{field: 'switch'}, {field: 'branch'}, {field: 'samples'}]
      }
    }, rows, [{name: 'switch', value: r => r.switch}, {name: 'branch', value: r => Number(r.branch)}, {name: 'samples', value: r => r.samples, key: r => r.key}]));
}

function energy_section(report, at) {
  const energy = report.energy;
  if (!energy || !energy.parts_mj) return null;
  const rows = Object.entries(energy.parts_mj).map(([part, mj]) => ({part, mj, watts: (energy.parts_w || {})[part]}));
  return section('Energy',
    figures([{name: 'energy of the run', value: energy.total_mj, key: at + 'energy.total_mj', unit: 'mJ'}, {name: 'of a batch', value: energy.per_batch_mj, key: at + 'energy.per_batch_mj', unit: 'mJ'}, {name: 'mean power', value: energy.mean_power_w, key: at + 'energy.mean_power_w', unit: 'W'}]),
    chart('Energy by part', {
      height: {step: 24}, mark: {type: 'bar', color: kPalette[0]},
      encoding: {y: {field: 'part', type: 'nominal', sort: '-x', title: null}, x: {field: 'mj', type: 'quantitative', title: 'mJ'}, tooltip: [{field: 'part'}, {field: 'mj'}, {field: 'watts'}]}
    }, rows, [
      {name: 'part', value: r => r.part}, {name: 'energy', unit: 'mJ', value: r => r.mj, key: r => at + 'energy.parts_mj.' + r.part},
      {name: 'mean power', unit: 'W', value: r => r.watts, key: r => at + 'energy.parts_w.' + r.part}
    ]));
}

function batches_section(report, at) {
  const batches = report.batches;
  if (!Array.isArray(batches) || batches.length < 2 || batches[0].latency_us === undefined) return null;
  return section('Batches', chart('Latency of each batch', {
    height: 180, mark: {type: 'line', point: true, color: kPalette[0]},
    encoding: {x: {field: 'batch', type: 'quantitative', axis: {tickMinStep: 1}}, y: {field: 'latency_us', type: 'quantitative', title: 'µs'}, tooltip: [{field: 'batch'}, {field: 'latency_us'}]}
  }, batches, [
    {name: 'batch', value: r => r.batch}, {name: 'latency', unit: 'µs', value: r => r.latency_us, key: r => at + 'batches.' + batches.indexOf(r) + '.latency_us'},
    {name: 'PE utilisation', unit: '%', scale: 100, value: r => r.pe_utilisation, key: r => at + 'batches.' + batches.indexOf(r) + '.pe_utilisation'}
  ]));
}

function worth_section(report, at) {
  if (!report.fidelity && !report.conservation) return null;
  const outside = (report.validation && report.validation.outside) || [];
  const checks = report.conservation || [];
  return section('What the figures are worth',
    element('h3', {}, 'The model behind each figure'),
    table([{name: 'component', value: r => r[0].replaceAll('_', ' ')}, {name: 'model', value: r => r[1], cell: r => shown(r[1], at + 'fidelity.' + r[0])}], Object.entries(report.fidelity || {}), {caption: 'Fidelity'}),
    outside.length > 0 ? element('p', {class: 'bad'}, 'Not validated here: ' + outside.join('; ')) : null,
    checks.length === 0 ? null : element('h3', {}, 'Conservation checks'),
    checks.length === 0 ? null : element('p', {class: report.ok ? null : 'bad'}, checks.filter(c => c.ok).length + ' of ' + checks.length + ' hold.'),
    checks.length === 0 ? null : table([
      {name: 'check', value: r => r.name}, {name: 'relation', value: r => r.relation}, {name: 'expected', value: r => r.expected, key: r => at + 'conservation.' + checks.indexOf(r) + '.expected'},
      {name: 'got', value: r => r.got, key: r => at + 'conservation.' + checks.indexOf(r) + '.got'}, {name: 'holds', value: r => r.ok}
    ], checks, {caption: 'Conservation checks'}));
}

/** Every leaf of a document: key and value. */
function leaves(value, key = '') {
  if (value !== null && typeof value === 'object')
    return Object.entries(value).flatMap(([name, inner]) => leaves(inner, key ? key + '.' + name : name));
  return [{key, value}];
}

function all_section(report, at) {
  const skipped = /^(tiles|links|operators|batches|conservation|bounds\.stages)\./;
  const rows = leaves(report).filter(r => !skipped.test(r.key));
  return section('All figures', element('details', {}, element('summary', {}, rows.length + ' values of the report'),
    table([{name: 'key', value: r => r.key}, {name: 'value', value: r => r.value, cell: r => shown(r.value, at + r.key)}], rows, {caption: 'All figures'})));
}

/** The sections of a report; `at` is its place in the page's data, with a dot at the end. */
function run_sections(report, at) {
  const get = key => lookup(report, key);
  const head = [
    ['latency of a batch', 'summary.latency_us.mean', 1, 'µs'], ['samples a second', 'summary.samples_per_second', 1, ''],
    ['PE utilisation', 'utilisation.pe', 100, '%'], ['HBM bandwidth', 'utilisation.hbm', 100, '%'],
    ['links, mean', 'utilisation.link_mean', 100, '%'], ['link, busiest', 'utilisation.link_busiest', 100, '%'],
    ['energy of a batch', 'energy.per_batch_mj', 1, 'mJ'], ['batches', 'summary.batches', 1, '']
  ].map(([name, key, scale, unit]) => ({name, key: at + key, value: get(key), scale, unit}));
  return [
    section('Summary', figures(head), report.ok === false ? element('p', {class: 'bad'}, 'A conservation check failed.') : null),
    bounds_section(report, at), pipeline_section(report, at), places_section(report, at), kernels_section(report, at),
    routes_section(report, at), energy_section(report, at), batches_section(report, at), worth_section(report, at), all_section(report, at)
  ];
}

function run_title(report) {
  const platform = report.platform || {};
  return [report.model || 'Run', [report.design ? 'design ' + report.design : '', platform.name ? 'on ' + platform.name : '',
    platform.columns ? platform.columns + '×' + platform.rows + ' tiles' : '', platform.clock_ghz ? platform.clock_ghz + ' GHz' : ''].filter(t => t).join(', ')];
}
