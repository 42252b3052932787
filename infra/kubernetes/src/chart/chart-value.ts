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
