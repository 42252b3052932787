import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openBuildah } from '../support/buildah.ts';

const TIMEOUT_MS = 900_000;

test('two builds of a commit are the same, byte for byte', { timeout: TIMEOUT_MS }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-buildah-'));
  const buildah = openBuildah(folder);
  try {
    buildah.makeBase();
    const build = () => buildah.build('webhook-dispatcher', '1.2.3');
    expect(build()).toBe(build());
  } finally {
    buildah.close();
    rmSync(folder, { recursive: true, force: true });
  }
});
