import { type Fields, fieldsAt, listAt, type Manifest, podTemplateOf, textAt } from '../../src/kustomize/manifest.ts';
import { render } from '../../src/kustomize/render.ts';

/** Every environment, and production with the components that no overlay uses. */
export const overlayNames = ['local', 'staging', 'production', 'with-single-sign-on'] as const;
export type OverlayName = (typeof overlayNames)[number];

/** Names of the services' Deployments. */
export const serviceNames = ['auth', 'billing', 'console', 'inference-gateway', 'webhook-dispatcher'] as const;
export type DeployedService = (typeof serviceNames)[number];

/** Returns the folder of an overlay. */
export const overlayFolder = (name: OverlayName): URL =>
  name === 'with-single-sign-on'
    ? new URL('../fixtures/with-single-sign-on/', import.meta.url)
    : new URL(`../../overlays/${name}/`, import.meta.url);

const rendered = new Map<OverlayName, readonly Manifest[]>();

/** Renders all objects of an overlay. */
export const overlay = (name: OverlayName): readonly Manifest[] => {
  const manifests = rendered.get(name) ?? render(overlayFolder(name));
  rendered.set(name, manifests);
  return manifests;
};

/** Returns the objects of one kind. */
export const ofKind = (manifests: readonly Manifest[], kind: string): Manifest[] =>
  manifests.filter((manifest) => manifest.kind === kind);

/** Returns one object. Throws if it is missing. */
export const find = (manifests: readonly Manifest[], kind: string, name: string): Manifest => {
  const found = ofKind(manifests, kind).find(({ metadata }) => metadata.name === name);
  if (found === undefined) throw new Error(`Unknown ${kind} ${name}.`);
  return found;
};

/** Returns the objects that create pods. */
export const workloads = (manifests: readonly Manifest[]): Manifest[] =>
  manifests.filter((manifest) => podTemplateOf(manifest) !== undefined);

/** Returns the pod spec of a workload. */
export const podSpecOf = (workload: Manifest): Fields => fieldsAt(podTemplateOf(workload), 'spec');

/** Returns all containers of a workload. */
export const containersOf = (workload: Manifest): Fields[] => [
  ...listAt(podSpecOf(workload), 'initContainers'),
  ...listAt(podSpecOf(workload), 'containers'),
];

/** Source of an environment value: a text, or a Secret with an unknown value. */
export type EnvironmentValue = { text: string } | { secret: string; key: string };

/** Returns the environment of a container, from ConfigMaps, Secrets and its list, in that order. */
export const environmentOf = (manifests: readonly Manifest[], container: Fields): Map<string, EnvironmentValue> => {
  const environment = new Map<string, EnvironmentValue>();
  for (const source of listAt(container, 'envFrom')) {
    const map = textAt(source, 'configMapRef', 'name');
    const secret = textAt(source, 'secretRef', 'name');
    if (map !== '') {
      const data = fieldsAt(find(manifests, 'ConfigMap', map), 'data');
      for (const [name, value] of Object.entries(data)) environment.set(name, { text: String(value) });
    }
    if (secret !== '') for (const key of secretKeys(manifests, secret)) environment.set(key, { secret, key });
  }
  for (const item of listAt(container, 'env')) {
    const secret = textAt(item, 'valueFrom', 'secretKeyRef', 'name');
    const key = textAt(item, 'valueFrom', 'secretKeyRef', 'key');
    environment.set(textAt(item, 'name'), secret === '' ? { text: textAt(item, 'value') } : { secret, key });
  }
  return environment;
};

/** Returns the keys that a Secret will have, from a manifest or from a secret store. */
export const secretKeys = (manifests: readonly Manifest[], name: string): string[] => {
  const plain = ofKind(manifests, 'Secret').find(({ metadata }) => metadata.name === name);
  if (plain !== undefined) return Object.keys(fieldsAt(plain, 'stringData'));
  const external = ofKind(manifests, 'ExternalSecret').find((each) => textAt(each, 'spec', 'target', 'name') === name);
  if (external === undefined) throw new Error(`Unknown Secret ${name}.`);
  return listAt(external, 'spec', 'data').map((item) => textAt(item, 'secretKey'));
};
