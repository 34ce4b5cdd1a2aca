import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

const ROOT = join(import.meta.dir, '../../../..');

/** Every name of a metric in a text. */
function metricsIn(text: string): string[] {
  const names = [...text.matchAll(/\bhalyard_[a-z_]+/g)].map(([name]) => name.replace(/_bucket$/, ''));
  return [...new Set(names)].sort();
}

test('alerts and the dashboard of Grafana use metrics that their page lists', () => {
  const page = readFileSync(join(ROOT, 'docs/operations/metrics.md'), 'utf8');
  for (const file of ['prometheus/alerts.yml', 'grafana/halyard.json']) {
    const used = metricsIn(readFileSync(join(ROOT, 'deploy', file), 'utf8'));
    expect(used.length).toBeGreaterThan(5);
    const unknown = used.filter(
      (name) => !page.includes(`\`${name}\``) && !name.startsWith('halyard_process_'),
    );
    expect([file, unknown]).toEqual([file, []]);
  }
});

test('the chart has the version of the program, and its values and the alerts are valid YAML', () => {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const chart = parse(readFileSync(join(ROOT, 'deploy/helm/halyard/Chart.yaml'), 'utf8'));
  expect(chart).toMatchObject({ version, appVersion: version });
  for (const file of ['helm/halyard/values.yaml', 'prometheus/alerts.yml', 'traefik/dynamic.yml'])
    expect(typeof parse(readFileSync(join(ROOT, 'deploy', file), 'utf8'))).toBe('object');
});
