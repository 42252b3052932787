import { z } from 'zod';
import { secrets, secretValue } from './service-values.ts';
import type { ChartValue, Place } from './template.ts';
import { block, fieldsOf, inline, isNodeFields, isSpecial, lines, type Node, unconditional } from './template.ts';

/**
 * Puts the expression of each value at its places. Returns the defaults, by the values' paths: what stood there. Throws
 * if a place is missing, or if two places of a value differ.
 */
export const placeValues = (objects: readonly Node[], values: readonly ChartValue[]): Map<string, unknown> => {
  for (const object of objects) nameSecrets(object);
  const defaults = new Map<string, unknown>();
  for (const value of values) {
    if (value.preset !== undefined) defaults.set(value.path, value.preset);
    for (const place of value.places ?? []) {
      for (const object of targetsOf(objects, place)) {
        const found = defaultAt(
          value,
          place,
          setAt(object, place.path, (node) => expressionOf(value.path, place, node)),
        );
        const known = defaults.get(value.path) ?? found;
        if (JSON.stringify(known) !== JSON.stringify(found)) throw new Error(`${value.path} has two defaults.`);
        defaults.set(value.path, found);
      }
    }
    for (const place of value.additions ?? [])
      for (const object of targetsOf(objects, place)) addAt(object, place.path, value.path);
  }
  return defaults;
};

/** Returns the objects of a place. Throws if there is none. */
const targetsOf = (objects: readonly Node[], place: Place): Node[] => {
  const targets = objects.filter((object) => {
    const fields = fieldsOf(object);
    const conditions = isSpecial(object) && object.template === 'conditional' ? object.conditions : [];
    return (
      fields['kind'] === place.kind &&
      (place.name === undefined || fieldsOf(fields['metadata'])['name'] === place.name) &&
      (place.component === undefined || conditions.some((each) => each.includes(`"${place.component}"`)))
    );
  });
  const known = targets.filter((object) => place.name !== undefined || parentAt(object, place.path) !== undefined);
  if (known.length === 0) throw new Error(`No ${place.kind} has ${place.path.join('/')}.`);
  return known;
};

/** Returns the child of a node: a field, or an item by its name or index. */
const childOf = (node: Node | undefined, step: string | number): Node | undefined => {
  const plain = unconditional(node);
  if (isNodeFields(plain)) return plain[step];
  if (!Array.isArray(plain)) return undefined;
  return typeof step === 'number' ? plain[step] : plain.find((item) => fieldsOf(item)['name'] === step);
};

/** Returns the node that holds the last step of a path, if the last step of a list exists as well. */
const parentAt = (object: Node, path: readonly (string | number)[]): Node | undefined => {
  const parent = unconditional(path.slice(0, -1).reduce<Node | undefined>(childOf, object));
  return Array.isArray(parent) && childOf(parent, path.at(-1) ?? '') === undefined ? undefined : parent;
};

/** Replaces the node at a path and returns the former one. Throws if there is none. */
const setAt = (object: Node, path: readonly (string | number)[], replacement: (node: Node) => Node): Node => {
  const parent = parentAt(object, path);
  const last = path.at(-1) ?? '';
  const former = childOf(parent, last);
  if (former === undefined) throw new Error(`Nothing stands at ${path.join('/')}.`);
  if (isSpecial(former)) throw new Error(`${path.join('/')} has a value already.`);
  if (Array.isArray(parent)) parent[parent.indexOf(former)] = replacement(former);
  else if (isNodeFields(parent)) parent[last] = replacement(former);
  return former;
};

const expressionOf = (path: string, { prefix }: Place, node: Node): Node => {
  const value = `.Values.${path}`;
  if (prefix !== undefined) return inline(`"${prefix}{{ ${value} }}"`);
  if (typeof node === 'object') return block((indentation) => `{{- toYaml ${value} | nindent ${indentation} }}`);
  if (typeof node !== 'string') return inline(`{{ ${value} }}`);
  if (node.includes('\n')) return inline(`|\n    {{- ${value} | nindent 4 }}`);
  return inline(`{{ ${value} | quote }}`);
};

const defaultAt = ({ schema }: ChartValue, { prefix = '' }: Place, node: Node): unknown => {
  if (typeof node !== 'string') return node;
  return schema instanceof z.ZodNumber ? Number(node) : node.slice(prefix.length);
};

/** Adds a field that exists only if the value is not empty, or the value's items to a list. */
const addAt = (object: Node, path: readonly (string | number)[], value: string): void => {
  const parent = parentAt(object, path);
  const field = String(path.at(-1));
  if (!isNodeFields(parent)) throw new Error(`Nothing can be added at ${path.join('/')}.`);
  const present = parent[field];
  const addition = lines((indentation) => {
    const margin = ' '.repeat(indentation);
    const printed =
      present === undefined
        ? [`${margin}${field}:`, `${margin}  {{- toYaml . | nindent ${indentation + 2} }}`]
        : [`${margin}{{- toYaml . | nindent ${indentation} }}`];
    return [`${margin}{{- with .Values.${value} }}`, ...printed, `${margin}{{- end }}`];
  });
  if (present === undefined) parent[field] = addition;
  else if (Array.isArray(present)) present.push(addition);
};

const SECRETS = new Set(secrets.map(([name]) => name));

/** Replaces the name of each Secret that an object reads or that an ExternalSecret creates. */
const nameSecrets = (node: Node): void => {
  const plain = unconditional(node);
  if (Array.isArray(plain)) plain.forEach(nameSecrets);
  if (!isNodeFields(plain)) return;
  for (const [holder, name] of [
    ['secretRef', 'name'],
    ['secretKeyRef', 'name'],
    ['secret', 'secretName'],
    ['target', 'name'],
  ] as const) {
    const fields = fieldsOf(plain[holder]);
    const secret = fields[name];
    if (typeof secret === 'string' && (holder !== 'target' || 'creationPolicy' in fields)) {
      if (!SECRETS.has(secret)) throw new Error(`The Secret ${secret} is not among the chart's values.`);
      fields[name] = inline(`{{ .Values.${secretValue(secret)} | quote }}`);
    }
  }
  Object.values(plain).forEach(nameSecrets);
};
