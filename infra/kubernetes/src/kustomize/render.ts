import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import {
  type Fields,
  fieldsAt,
  isFields,
  listAt,
  type Manifest,
  podTemplateOf,
  toManifest,
  type Value,
} from './manifest.ts';
import {
  applyOperations,
  type ConfigMapSource,
  type Kustomization,
  mergeStrategically,
  type Operation,
  readDocuments,
  readKustomization,
} from './patches.ts';

const CLUSTER_WIDE = new Set(['Namespace']);

interface ConfigMap {
  readonly data: Record<string, string>;
  readonly isHashed: boolean;
  readonly labels: Record<string, string>;
}

/** Intermediate result: objects, and ConfigMaps without their final names. */
interface Gathered {
  manifests: Manifest[];
  readonly configMaps: Map<string, ConfigMap>;
}

/** Renders a kustomization like `kubectl kustomize`, in no particular order. */
export const render = (folder: URL): Manifest[] => {
  const kustomization = readKustomization(folder);
  const { manifests, configMaps } = gather(folder, kustomization, { manifests: [], configMaps: new Map() });
  const names = new Map([...configMaps].map(([name, map]) => [name, finalName(name, map)]));
  const made = [...configMaps].map(([name, map]) => configMap(finalName(name, map), map, kustomization.namespace));
  return [...manifests.map((manifest) => withReferences(manifest, names)), ...made];
};

/**
 * Renders a kustomization with other components, without suffixes of names. ConfigMaps that it generates come first,
 * then the objects in the order of their resources. Patches of objects that no component brings are left out.
 */
export const renderWith = (folder: URL, components: readonly string[]): Manifest[] => {
  const kustomization = { ...readKustomization(folder), components: [...components] };
  const isSkipping = true;
  const { manifests, configMaps } = gather(
    folder,
    kustomization,
    { manifests: [], configMaps: new Map() },
    { isSkipping },
  );
  const made = [...configMaps].map(([name, map]) => configMap(name, map, kustomization.namespace));
  return [...made, ...manifests];
};

/** Renders one level: its resources, its components, then its changes to all of them. */
const gather = (
  folder: URL,
  kustomization: Kustomization,
  inherited: Gathered,
  { isSkipping } = { isSkipping: false },
): Gathered => {
  let gathered: Gathered = { manifests: [...inherited.manifests], configMaps: new Map(inherited.configMaps) };
  for (const resource of kustomization.resources) gathered = addResource(folder, resource, gathered);
  for (const component of kustomization.components) {
    const nested = new URL(`${component}/`, folder);
    gathered = gather(nested, readKustomization(nested), gathered);
  }
  for (const source of kustomization.configMapGenerator) addConfigMap(folder, source, gathered.configMaps);
  const labels: Record<string, string> = Object.assign({}, ...kustomization.labels.map(({ pairs }) => pairs));
  for (const [name, map] of gathered.configMaps) {
    gathered.configMaps.set(name, { ...map, labels: { ...map.labels, ...labels } });
  }
  for (const patch of kustomization.patches)
    gathered.manifests = applyPatch(folder, patch, gathered.manifests, isSkipping);
  gathered.manifests = gathered.manifests
    .map((manifest) => withNamespace(manifest, kustomization.namespace))
    .map((manifest) => labeled(manifest, kustomization.labels))
    .map((manifest) => withImages(manifest, kustomization.images));
  return gathered;
};

const addResource = (folder: URL, resource: string, { manifests, configMaps }: Gathered): Gathered => {
  if (resource.endsWith('.yaml')) {
    const url = new URL(resource, folder);
    const read = readDocuments(url).map((document) => toManifest(document, url.pathname));
    return { manifests: [...manifests, ...read], configMaps };
  }
  const nestedFolder = new URL(`${resource}/`, folder);
  const nested = gather(nestedFolder, readKustomization(nestedFolder), { manifests: [], configMaps: new Map() });
  return {
    manifests: [...manifests, ...nested.manifests],
    configMaps: new Map([...configMaps, ...nested.configMaps]),
  };
};

const addConfigMap = (folder: URL, source: ConfigMapSource, into: Map<string, ConfigMap>): void => {
  const known = into.get(source.name);
  if ((known !== undefined) !== (source.behavior === 'merge'))
    throw new Error(`${source.name}: made twice or merged into nothing.`);
  const data = { ...known?.data };
  for (const literal of source.literals ?? []) {
    const [name = '', ...rest] = literal.split('=');
    data[name] = rest.join('=');
  }
  for (const file of source.files ?? []) {
    const [name = '', path = name] = file.split('=');
    data[name] = readFileSync(new URL(path, folder), 'utf8');
  }
  into.set(source.name, {
    data,
    isHashed: source.options?.disableNameSuffixHash !== true,
    labels: known?.labels ?? {},
  });
};

const applyPatch = (
  folder: URL,
  { path, target }: Kustomization['patches'][number],
  manifests: Manifest[],
  isSkipping: boolean,
): Manifest[] => {
  const [document] = readDocuments(new URL(path, folder));
  // A list is a JSON patch, an object a strategic merge patch; kustomize distinguishes them the same way.
  const patch = document as Operation[] | Fields;
  const wanted = target ?? {
    kind: String(fieldsAt(patch as Fields)['kind']),
    name: String(fieldsAt(patch as Fields, 'metadata')['name']),
  };
  const isTarget = ({ kind, metadata }: Manifest): boolean =>
    kind === wanted.kind && (wanted.name === undefined || new RegExp(`^(?:${wanted.name})$`).test(metadata.name));
  if (!manifests.some(isTarget) && isSkipping) return manifests;
  if (!manifests.some(isTarget)) throw new Error(`${path} changes nothing.`);
  return manifests.map((manifest) => {
    if (!isTarget(manifest)) return manifest;
    if (Array.isArray(patch)) return applyOperations(manifest, patch);
    // The name of a patch is that of its target, or stands for any.
    const { name: _name, ...metadata } = fieldsAt(patch, 'metadata');
    return toManifest(mergeStrategically(manifest, { ...patch, metadata }), path);
  });
};

const withNamespace = (manifest: Manifest, namespace: string | undefined): Manifest =>
  namespace === undefined || CLUSTER_WIDE.has(manifest.kind)
    ? manifest
    : { ...manifest, metadata: { ...manifest.metadata, namespace } };

const labeled = (manifest: Manifest, labels: Kustomization['labels']): Manifest => {
  const pairs = Object.assign({}, ...labels.map((each) => each.pairs));
  if (Object.keys(pairs).length === 0) return manifest;
  return { ...manifest, metadata: { ...manifest.metadata, labels: { ...manifest.metadata.labels, ...pairs } } };
};

const withImages = (manifest: Manifest, images: Kustomization['images']): Manifest => {
  if (podTemplateOf(manifest) === undefined || images.length === 0) return manifest;
  const copy = structuredClone(manifest);
  for (const container of listAt(podTemplateOf(copy), 'spec', 'containers')) {
    const image = images.find(({ name }) => name === String(container['image']).split(':', 1)[0]);
    if (image === undefined) continue;
    const suffix = image.digest === undefined ? `:${image.newTag ?? 'latest'}` : `@${image.digest}`;
    container['image'] = `${image.newName ?? image.name}${suffix}`;
  }
  return copy;
};

const withReferences = (manifest: Manifest, names: ReadonlyMap<string, string>): Manifest => {
  const copy = structuredClone(manifest);
  const rename = (reference: Value | undefined): void => {
    if (isFields(reference)) reference['name'] = names.get(String(reference['name'])) ?? reference['name'];
  };
  const pod = podTemplateOf(copy);
  for (const volume of listAt(pod, 'spec', 'volumes')) rename(volume['configMap']);
  for (const container of listAt(pod, 'spec', 'containers')) {
    for (const source of listAt(container, 'envFrom')) rename(source['configMapRef']);
  }
  return copy;
};

const configMap = (name: string, { data, labels }: ConfigMap, namespace: string | undefined): Manifest =>
  labeled(
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name, ...(namespace === undefined ? {} : { namespace }) },
      data,
    },
    [{ pairs: labels }],
  );

const finalName = (name: string, map: ConfigMap): string => (map.isHashed ? `${name}-${hashOf(map)}` : name);

/** Letters that replace digits, so that no hash spells a word (kustomize `api/hasher`). */
const SAFE: Record<string, string> = { '0': 'g', '1': 'h', '3': 'k', a: 'm', e: 't' };
const HASH_CHARACTERS = 10;

/**
 * Computes kustomize's suffix: a hash of kind and data (with an empty name) in Go's JSON, which escapes HTML
 * characters.
 */
const hashOf = ({ data }: ConfigMap): string => {
  const sorted = Object.fromEntries(Object.entries(data).sort(([a], [b]) => (a < b ? -1 : 1)));
  const json = JSON.stringify({ data: sorted, kind: 'ConfigMap', name: '' }).replaceAll(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  const suffix = hash('sha256', json, 'hex').slice(0, HASH_CHARACTERS);
  return [...suffix].map((character) => SAFE[character] ?? character).join('');
};
