import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { type Manifest, toManifest } from '../src/kustomize/manifest.ts';
import { parseDocuments } from '../src/kustomize/patches.ts';
import { overlay, overlayFolder, overlayNames } from './support/overlays.ts';

const hasKubectl = spawnSync('kubectl', ['version', '--client'], { timeout: 20_000 }).status === 0;
if (!hasKubectl) {
  console.warn('NOT CHECKED: kubectl is missing, so only the resolver of these tests renders the overlays.');
}

const byName = (manifests: readonly Manifest[]): Record<string, Manifest> =>
  Object.fromEntries(manifests.map((manifest) => [`${manifest.kind} ${manifest.metadata.name}`, manifest]));

describe.runIf(hasKubectl)('kubectl kustomize', () => {
  test.each(overlayNames)('renders %s like the resolver of these tests', (name) => {
    const folder = fileURLToPath(overlayFolder(name));
    const { stdout, stderr, status } = spawnSync('kubectl', ['kustomize', folder], { encoding: 'utf8' });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    const manifests = parseDocuments(stdout, name).map((document) => toManifest(document, name));
    expect(byName(overlay(name))).toEqual(byName(manifests));
  });
});
