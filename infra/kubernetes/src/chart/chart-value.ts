import type { z } from 'zod';

/** Place of a value in the manifests, from which its default comes as well. */
export interface Place {
  readonly kind: string;
  /** Name of the object; without one, every object of the kind that has the path. */
  readonly name?: string;
  /** Component of the object, where two components bring one of the same name. */
  readonly component?: string;
  /** Names of fields, names of a list's items, or their indices. */
  readonly path: readonly (string | number)[];
  /** Text before the value, such as the scheme before a host. */
  readonly prefix?: string;
}

/** A value of the chart. */
export interface ChartValue {
  /** Names from the root of `values.yaml`, joined by dots. */
  readonly path: string;
  readonly meaning: string;
  /** The meaning for the Italian guide. */
  readonly italian: string;
  readonly schema: z.ZodType;
  readonly places?: readonly Place[];
  /** Fields, or items of lists, that the manifests lack and the value may add. */
  readonly additions?: readonly Place[];
  /** Default of a value that has no place. */
  readonly preset?: unknown;
}

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
