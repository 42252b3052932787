export type Value = string | number | boolean | null | Value[] | Fields;

export interface Fields {
  [name: string]: Value | undefined;
}

/** A Kubernetes object with its common fields. */
export interface Manifest extends Fields {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Fields & { name: string; namespace?: string; labels?: Fields; annotations?: Fields };
}

/** Distinguishes objects from lists and scalars. */
export const isFields = (value: Value | undefined): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Converts parsed YAML to a Kubernetes object. Throws for anything else. */
export const toManifest = (value: unknown, source: string): Manifest => {
  // YAML yields only JSON values; the checks below prove the rest.
  const fields = value as Value;
  const isObject = isFields(fields) && typeof fields['kind'] === 'string' && typeof fields['apiVersion'] === 'string';
  const metadata = isFields(fields) ? fields['metadata'] : undefined;
  if (!isObject || !isFields(metadata) || typeof metadata['name'] !== 'string') {
    throw new Error(`${source} contains a document that is not a Kubernetes object.`);
  }
  return fields as Manifest;
};

/** Returns the value at a path of names and indices, if any. */
export const valueAt = (root: Value | undefined, ...path: (string | number)[]): Value | undefined => {
  let value = root;
  for (const step of path) {
    if (Array.isArray(value) && typeof step === 'number') value = value[step];
    else if (isFields(value) && typeof step === 'string') value = value[step];
    else return undefined;
  }
  return value;
};

/** Returns the object at a path, or an empty one. */
export const fieldsAt = (root: Value | undefined, ...path: (string | number)[]): Fields => {
  const value = valueAt(root, ...path);
  return isFields(value) ? value : {};
};

/** Returns the objects of the list at a path, or an empty list. */
export const listAt = (root: Value | undefined, ...path: (string | number)[]): Fields[] => {
  const value = valueAt(root, ...path);
  return Array.isArray(value) ? value.filter(isFields) : [];
};

/** Returns the text at a path, or an empty text. */
export const textAt = (root: Value | undefined, ...path: (string | number)[]): string => {
  const value = valueAt(root, ...path);
  return typeof value === 'string' ? value : '';
};

/** Path of the pod template in each kind that has one. */
const TEMPLATES: Readonly<Record<string, readonly string[]>> = {
  Deployment: ['spec', 'template'],
  StatefulSet: ['spec', 'template'],
  DaemonSet: ['spec', 'template'],
  Job: ['spec', 'template'],
  CronJob: ['spec', 'jobTemplate', 'spec', 'template'],
};

/** Returns the pod template of a workload; undefined for any other object. */
export const podTemplateOf = (manifest: Manifest): Fields | undefined => {
  const path = TEMPLATES[manifest.kind];
  return path === undefined ? undefined : fieldsAt(manifest, ...path);
};
