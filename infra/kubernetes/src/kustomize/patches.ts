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
