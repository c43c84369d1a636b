// SPDX-License-Identifier: Apache-2.0
// Shows the page's data: a run, an experiment, a sweep or a comparison.
'use strict';

const data = JSON.parse(document.getElementById('data').textContent);

function open_place() {
  const found = /^#point-(\d+)$/.exec(location.hash);
  if (data.kind === 'experiment') {
    if (found && data.results.points[found[1]]) return show_point(data.results, Number(found[1]));
    if (/^#section-/.test(location.hash) && document.getElementById(location.hash.slice(1))) return Promise.resolve();
    return show_experiment(data.results);
  }
  return Promise.resolve();
}

function start() {
  if (data.kind === 'run') return show(...run_title(data.report), run_sections(data.report, 'report.'));
  if (data.kind === 'sweep') return show_sweep(data.sweep);
  if (data.kind === 'compare') return show_compare(data.reports, data.names);
  return open_place();
}

if (typeof vegaEmbed !== 'function') {
  document.querySelector('header').append(element('p', {class: 'note'},
    'This program was built without the drawing libraries: charts are tables here (docs/pages.md).'));
}
window.addEventListener('hashchange', () => { open_place(); });
start().then(() => { document.body.dataset.ready = 'yes'; });
