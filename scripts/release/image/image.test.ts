import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { temporaryFolder } from '@halyard/testing';
import { packChart, writeChart } from '../chart.ts';
import { digestOf, OciLayout } from '../oci-layout.ts';
import { readContainerConfig } from './dockerfile.ts';
import { IMAGE_USER } from './root.ts';

test('the image of a release starts as the one of the Dockerfile: a numeric user, one command, a health check, and labels', async () => {
  const variables = {
    HALYARD_VERSION: '1.2.3',
    HALYARD_COMMIT: '0123456789ab',
    HALYARD_CREATED: '2026-01-02',
  };
  const config = await readContainerConfig(variables);
  expect(config).toMatchObject({
    User: `${IMAGE_USER}:${IMAGE_USER}`,
    Entrypoint: ['/usr/local/bin/halyard'],
    Cmd: ['serve'],
    WorkingDir: '/data',
    ExposedPorts: { '7070/tcp': {} },
    Volumes: { '/data': {} },
    Healthcheck: {
      Test: ['CMD', '/usr/local/bin/halyard', 'doctor', '--liveness'],
      Interval: 10e9,
      Timeout: 5e9,
      Retries: 3,
    },
  });
  expect(config.Env).toEqual(expect.arrayContaining(['HALYARD_HOST=0.0.0.0', 'HALYARD_BARE=true']));
  expect(config.Labels).toMatchObject({
    'org.opencontainers.image.version': '1.2.3',
    'org.opencontainers.image.revision': '0123456789ab',
    'org.opencontainers.image.created': '2026-01-02',
    'org.opencontainers.image.licenses': 'MIT',
  });
  await expect(readContainerConfig({})).rejects.toThrow('HALYARD_VERSION');
});

test('the chart lies in its layout as Helm pushes it, and always with the same digests', async () => {
  const modifiedAt = new Date('2026-01-02T03:04:05Z');
  const chart = packChart(modifiedAt);
  expect(packChart(modifiedAt)).toEqual(chart);
  using folder = temporaryFolder();
  await writeChart(new OciLayout(folder.path), chart, modifiedAt);

  const readBlob = async ({ digest, size }: { digest: string; size: number }) => {
    const bytes = await Bun.file(join(folder.path, 'blobs', digest.replace(':', '/'))).bytes();
    expect([digestOf(bytes), bytes.length]).toEqual([digest, size]);
    return bytes;
  };
  const index = await Bun.file(folder.file('index.json')).json();
  const manifest = JSON.parse(new TextDecoder().decode(await readBlob(index.manifests[0])));
  expect(manifest.config.mediaType).toBe('application/vnd.cncf.helm.config.v1+json');
  expect(JSON.parse(new TextDecoder().decode(await readBlob(manifest.config)))).toMatchObject({
    apiVersion: 'v2',
    name: 'halyard',
  });
  expect(await readBlob(manifest.layers[0])).toEqual(chart);
});
