import { readFileSync } from 'node:fs';
import { parse, parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { type Fields, isFields, type Manifest, type Value } from './manifest.ts';

/** Lists that merge by a key of their items; every other list is replaced as a whole. */
const MERGE_KEYS: Record<string, string> = {
  containers: 'name',
  env: 'name',
  ports: 'containerPort',
  volumeMounts: 'mountPath',
  volumes: 'name',
  topologySpreadConstraints: 'topologyKey',
};

/**
 * Applies a strategic merge patch: objects merge, known lists merge by key, `null` removes, everything else is
 * replaced.
 */
export const mergeStrategically = (target: Value | undefined, patch: Value, field = ''): Value => {
  if (isFields(patch)) {
    const merged: Fields = isFields(target) ? { ...target } : {};
    for (const [name, value] of Object.entries(patch)) {
      if (value === null || value === undefined) delete merged[name];
      else merged[name] = mergeStrategically(merged[name], value, name);
    }
    return merged;
  }
  const key = MERGE_KEYS[field];
  if (!Array.isArray(patch) || !Array.isArray(target) || key === undefined) return patch;
  return mergeLists(target.filter(isFields), patch.filter(isFields), key);
};

const mergeLists = (target: Fields[], patch: Fields[], key: string): Fields[] => {
  const merged = target.map((item) => {
    const change = patch.find((each) => each[key] === item[key]);
    // Merging two objects yields an object.
    return change === undefined ? item : (mergeStrategically(item, change) as Fields);
  });
  const added = patch.filter((each) => !target.some((item) => item[key] === each[key]));
  return [...added, ...merged];
};

/** An operation of RFC 6902, limited to those in the overlays. */
export interface Operation {
  readonly op: 'add' | 'replace' | 'remove';
  readonly path: string;
  readonly value?: Value;
}

/** Applies a JSON patch (RFC 6902) to a copy. Throws for a missing path, like kustomize. */
export const applyOperations = (manifest: Manifest, operations: readonly Operation[]): Manifest => {
  const copy = structuredClone(manifest);
  for (const operation of operations) applyOperation(copy, operation);
  return copy;
};

const applyOperation = (root: Value, { op, path, value }: Operation): void => {
  const steps = path
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
  const last = steps.pop() ?? '';
  let parent: Value | undefined = root;
  for (const step of steps)
    parent = Array.isArray(parent) ? parent[Number(step)] : isFields(parent) ? parent[step] : undefined;
  if (Array.isArray(parent)) {
    if (op === 'remove') parent.splice(Number(last), 1);
    else parent.splice(last === '-' ? parent.length : Number(last), op === 'replace' ? 1 : 0, value ?? null);
    return;
  }
  if (!isFields(parent) || (op !== 'add' && !(last in parent))) throw new Error(`${op} ${path}: no such path.`);
  if (op === 'remove') delete parent[last];
  else parent[last] = value;
};

const literals = z.array(z.string()).optional();

/** Supported part of kustomize; anything else throws, so that it cannot be ignored by accident. */
const kustomizationSchema = z.strictObject({
  apiVersion: z.enum(['kustomize.config.k8s.io/v1beta1', 'kustomize.config.k8s.io/v1alpha1']),
  kind: z.enum(['Kustomization', 'Component']),
  namespace: z.string().optional(),
  resources: z.array(z.string()).default([]),
  components: z.array(z.string()).default([]),
  labels: z.array(z.strictObject({ pairs: z.record(z.string(), z.string()) })).default([]),
  configMapGenerator: z
    .array(
      z.strictObject({
        name: z.string(),
        behavior: z.literal('merge').optional(),
        literals,
        files: literals,
        options: z.strictObject({ disableNameSuffixHash: z.boolean() }).optional(),
      }),
    )
    .default([]),
  images: z
    .array(
      z.strictObject({
        name: z.string(),
        newName: z.string().optional(),
        newTag: z.string().optional(),
        digest: z.string().optional(),
      }),
    )
    .default([]),
  patches: z
    .array(
      z.strictObject({
        path: z.string(),
        target: z.strictObject({ kind: z.string(), name: z.string().optional() }).optional(),
      }),
    )
    .default([]),
});

export type Kustomization = z.infer<typeof kustomizationSchema>;
export type ConfigMapSource = Kustomization['configMapGenerator'][number];

/** kubectl reads YAML 1.1, where `off` is a boolean and 0555 an octal number. */
const YAML_1_1 = { version: '1.1' } as const;

/** Reads the kustomization of a folder. Throws if it uses an unsupported feature. */
export const readKustomization = (folder: URL): Kustomization =>
  kustomizationSchema.parse(parse(readFileSync(new URL('kustomization.yaml', folder), 'utf8'), YAML_1_1));

/** Reads all documents of a YAML file. Throws if it does not parse. */
export const readDocuments = (url: URL): unknown[] => parseDocuments(readFileSync(url, 'utf8'), url.pathname);

/** Parses all documents of a text. Throws if it does not parse. */
export const parseDocuments = (text: string, source: string): unknown[] => {
  const documents = parseAllDocuments(text, YAML_1_1);
  if (!Array.isArray(documents)) return [];
  return documents.map((document) => {
    const [error] = document.errors;
    if (error !== undefined) throw new Error(`${source}: ${error.message}`);
    return document.toJS();
  });
};
