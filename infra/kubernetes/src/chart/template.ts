import { isFields, type Manifest, type Value } from '../kustomize/manifest.ts';

/** Text of an action at the place of a scalar, such as `{{ .Values.host | quote }}`. */
interface Inline {
  readonly template: 'inline';
  readonly text: string;
}

/** Actions on lines below their key, which print the key's whole value. `text` depends on the indentation. */
interface Block {
  readonly template: 'block';
  readonly text: (indentation: number) => string;
}

/** A field, an item of a list or an object that exists only if all conditions hold. */
interface Conditional {
  readonly template: 'conditional';
  readonly conditions: readonly string[];
  readonly node: Node;
}

/** Actions that print whole lines at the place of a field or of an item. */
interface Lines {
  readonly template: 'lines';
  readonly text: (indentation: number) => readonly string[];
}

/** YAML with Helm's actions. */
export type Node = string | number | boolean | null | Node[] | NodeFields | Special;
type Special = (Inline | Block | Conditional | Lines) & { readonly isSpecial: true };

export interface NodeFields {
  [name: string]: Node;
}

export const inline = (text: string): Special => ({ isSpecial: true, template: 'inline', text });
export const block = (text: (indentation: number) => string): Special => ({ isSpecial: true, template: 'block', text });
export const lines = (text: (indentation: number) => readonly string[]): Special => ({
  isSpecial: true,
  template: 'lines',
  text,
});

/** Makes a node depend on conditions, which are arguments of `if`. */
export const onlyIf = (conditions: readonly string[], node: Node): Node =>
  conditions.length === 0 ? node : { isSpecial: true, template: 'conditional', conditions, node };

/** Distinguishes actions from YAML: no manifest has a field `isSpecial`. */
export const isSpecial = (node: Node | undefined): node is Special =>
  typeof node === 'object' && node !== null && 'isSpecial' in node;

/** Distinguishes objects from lists, scalars and actions. */
export const isNodeFields = (node: Node | undefined): node is NodeFields =>
  typeof node === 'object' && node !== null && !Array.isArray(node) && !isSpecial(node);

/** Returns a node without its conditions. */
export const unconditional = (node: Node | undefined): Node | undefined =>
  isSpecial(node) && node.template === 'conditional' ? node.node : node;

/** Returns the fields of an object, also if it depends on conditions; none for any other node. */
export const fieldsOf = (node: Node | undefined): NodeFields => {
  const plain = unconditional(node);
  return isNodeFields(plain) ? plain : {};
};

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
export const identityOf = (item: Value): string => {
  const fields = isFields(item) ? item : {};
  return String(fields['name'] ?? fields['mountPath'] ?? fields['topologyKey'] ?? JSON.stringify(item));
};
