import { isFields, type Manifest, type Value } from '../kustomize/manifest.ts';
import { type Node, onlyIf } from './template.ts';

/** The states of a tree after each layer of components; `undefined` before the layer that brings it. */
type States<T> = readonly (T | undefined)[];

/** Returns the conditions of an object (`isWhole`), or of a part of it, that exists since a state. */
type ConditionsOf = (state: number, manifest: Manifest, isWhole: boolean) => readonly string[];

/**
 * Joins the states of all objects after each layer into one tree, in which all that a layer adds depends on the layer's
 * conditions. Throws if a layer changes or removes something: a condition could not express that.
 */
export const weave = (states: readonly (readonly Manifest[])[], conditionsOf: ConditionsOf): Node[] =>
  (states.at(-1) ?? []).map((manifest, index) => {
    const versions = states.map((state) => state[index]);
    const conditions = (state: number): readonly string[] => conditionsOf(state, manifest, false);
    const node = weaveValue(versions, conditions, `${manifest.kind} ${manifest.metadata.name}`);
    return onlyIf(conditionsOf(firstOf(versions), manifest, true), node);
  });

const firstOf = (versions: States<Value>): number => versions.findIndex((version) => version !== undefined);

const weaveValue = (versions: States<Value>, conditions: (state: number) => readonly string[], path: string): Node => {
  const last = versions.at(-1);
  const first = firstOf(versions);
  /** Weaves a part, which depends on a layer's conditions if the whole existed before that layer. */
  const part = (parts: States<Value>, name: string): Node => {
    const since = firstOf(parts);
    const node = weaveValue(parts, conditions, `${path}/${name}`);
    return since > first ? onlyIf(conditions(since), node) : node;
  };
  if (Array.isArray(last)) {
    const lists = versions.map((version) => (Array.isArray(version) ? version : undefined));
    const known = new Set(last.map(identityOf));
    if (lists.some((list) => list?.some((item) => !known.has(identityOf(item)))))
      throw new Error(`A component changes the list ${path}.`);
    return last.map((item) =>
      part(
        lists.map((list) => list?.find((each) => isSame(each, item))),
        identityOf(item),
      ),
    );
  }
  if (isFields(last)) {
    const objects = versions.map((version) => (isFields(version) ? version : undefined));
    if (objects.some((fields) => Object.keys(fields ?? {}).some((name) => !(name in last))))
      throw new Error(`A component changes ${path} in place of adding something.`);
    const entries = Object.keys(last).map(
      (name) =>
        [
          name,
          part(
            objects.map((fields) => fields?.[name]),
            name,
          ),
        ] as const,
    );
    return Object.fromEntries(entries);
  }
  if (last === undefined || versions.some((version) => version !== undefined && version !== last)) {
    throw new Error(`A component changes ${path} in place of adding something.`);
  }
  return last;
};

const isSame = (one: Value, other: Value): boolean => identityOf(one) === identityOf(other);

/** Fields by which Kubernetes merges the items of a list; other items are the same only if they are equal. */
const identityOf = (item: Value): string => {
  const fields = isFields(item) ? item : {};
  return String(fields['name'] ?? fields['mountPath'] ?? fields['topologyKey'] ?? JSON.stringify(item));
};
