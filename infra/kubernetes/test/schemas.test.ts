import { describe, expect, test } from 'vitest';
import { type Manifest, toManifest } from '../src/kustomize/manifest.ts';
import { type OverlayName, overlay, overlayNames } from './support/overlays.ts';
import { modelModule, typeErrors } from './support/typed-manifests.ts';

/** Checks value rules that types cannot express: formats, patterns, ranges. Throws with all faults. */
const validate = async (manifest: Manifest): Promise<void> => {
  const module: Record<string, unknown> = await import(modelModule(manifest));
  const Model = module[manifest.kind];
  if (typeof Model !== 'function') throw new Error(`${modelModule(manifest)} has no ${manifest.kind}.`);
  // Every model of the package is a class with this constructor and method.
  const model = Reflect.construct(Model, [structuredClone(manifest)]) as { validate: () => void };
  model.validate();
};

/** Kinds for which no package has a schema. Another test compares the whole object. */
const WITHOUT_SCHEMA = new Set(['ClientTrafficPolicy']);

const withSchema = (name: OverlayName): Manifest[] => overlay(name).filter(({ kind }) => !WITHOUT_SCHEMA.has(kind));

describe.each(overlayNames)('%s', (name) => {
  test('every object satisfies its schema', async () => {
    for (const manifest of withSchema(name)) {
      await expect(validate(manifest), `${manifest.kind} ${manifest.metadata.name}`).resolves.toBeUndefined();
    }
  });

  test('no two objects share a name', () => {
    const names = overlay(name).map(({ apiVersion, kind, metadata }) => `${apiVersion} ${kind} ${metadata.name}`);
    expect(names.toSorted()).toEqual([...new Set(names)].toSorted());
  });

  test('everything lies in the namespace', () => {
    const outside = overlay(name).filter(({ kind, metadata }) => kind !== 'Namespace' && metadata.namespace !== 'svc');
    expect(outside).toEqual([]);
  });
});

test('every object matches the type of its kind without unknown properties', () => {
  const findings = overlayNames.flatMap((name) => typeErrors(withSchema(name)).map((finding) => `${name}: ${finding}`));
  expect(findings).toEqual([]);
});

describe('the check itself', () => {
  const deployment = (container: object): Manifest =>
    toManifest(
      {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { name: 'probe' },
        spec: {
          selector: { matchLabels: { a: 'b' } },
          template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', ...container }] } },
        },
      },
      'probe',
    );

  test('accepts valid objects', () => {
    expect(typeErrors([deployment({ readinessProbe: { httpGet: { path: '/readyz', port: 1 } } })])).toEqual([]);
  });

  test.each([
    ['a misspelt property of a container', { readynessProbe: {} }],
    ['a misspelt property deep inside', { securityContext: { capabilities: { dropp: ['ALL'] } } }],
    ['a wrong type', { ports: [{ containerPort: 'http' }] }],
  ])('finds %s', (_what, container) => {
    expect(typeErrors([deployment(container)])).toHaveLength(1);
  });

  test('finds an unknown property of objects from other packages', () => {
    const route = { apiVersion: 'gateway.networking.k8s.io/v1', kind: 'HTTPRoute', metadata: { name: 'probe' } };
    expect(typeErrors([toManifest({ ...route, spec: { hostname: ['a.test'] } }, 'probe')])).toHaveLength(1);
  });
});
