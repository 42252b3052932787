/** Any JSON value of a manifest. */
export type Value = string | number | boolean | null | Value[] | Fields;

/** An object of a manifest. */
export interface Fields {
  [name: string]: Value | undefined;
}

/** A Kubernetes object, as far as all of them look alike. */
export interface Manifest extends Fields {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Fields & { name: string; namespace?: string; labels?: Fields; annotations?: Fields };
}

/** Tells objects from lists and scalars. */
export const isFields = (value: Value | undefined): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Reads an object out of parsed YAML. Throws for anything that is no Kubernetes object. */
export const toManifest = (value: unknown, source: string): Manifest => {
  // YAML yields only JSON values; the checks below prove the rest.
  const fields = value as Value;
  const isObject = isFields(fields) && typeof fields['kind'] === 'string' && typeof fields['apiVersion'] === 'string';
  const metadata = isFields(fields) ? fields['metadata'] : undefined;
  if (!isObject || !isFields(metadata) || typeof metadata['name'] !== 'string') {
    throw new Error(`${source} holds something that is no Kubernetes object.`);
  }
  return fields as Manifest;
};

/** The value at a path of names and indices; undefined where there is none. */
export const valueAt = (root: Value | undefined, ...path: (string | number)[]): Value | undefined => {
  let value = root;
  for (const step of path) {
    if (Array.isArray(value) && typeof step === 'number') value = value[step];
    else if (isFields(value) && typeof step === 'string') value = value[step];
    else return undefined;
  }
  return value;
};

/** The object at a path; an empty one where there is none. */
export const fieldsAt = (root: Value | undefined, ...path: (string | number)[]): Fields => {
  const value = valueAt(root, ...path);
  return isFields(value) ? value : {};
};

/** The objects of a list at a path; none where there is no list. */
export const listAt = (root: Value | undefined, ...path: (string | number)[]): Fields[] => {
  const value = valueAt(root, ...path);
  return Array.isArray(value) ? value.filter(isFields) : [];
};

/** The text at a path; empty where there is none. */
export const textAt = (root: Value | undefined, ...path: (string | number)[]): string => {
  const value = valueAt(root, ...path);
  return typeof value === 'string' ? value : '';
};

/** Kinds whose pods come from `spec.template`. */
const WORKLOADS = new Set(['Deployment', 'StatefulSet', 'Job', 'DaemonSet']);

/** The pod template of a workload; undefined for any other object. */
export const podTemplateOf = (manifest: Manifest): Fields | undefined =>
  WORKLOADS.has(manifest.kind) ? fieldsAt(manifest, 'spec', 'template') : undefined;
