/**
 * Checks a value of unknown type and returns it with its type. Throws `ShapeError`. The value itself stays as it is,
 * so fields that a later release of the service adds reach the caller.
 */
export type Shape<T> = (value: unknown, path?: string) => T;

/** Type that a shape accepts. */
export type Infer<S> = S extends Shape<infer T> ? T : never;

type Fields = Readonly<Record<string, Shape<unknown>>>;
type OptionalKey<F extends Fields> = { [K in keyof F]: undefined extends Infer<F[K]> ? K : never }[keyof F];
type Flat<T> = { [K in keyof T]: T[K] };
type ObjectOf<F extends Fields> = Flat<
  { [K in Exclude<keyof F, OptionalKey<F>>]: Infer<F[K]> } & { [K in OptionalKey<F>]?: Infer<F[K]> }
>;

/** A value violates its shape. The message names the place and never quotes the value. */
export class ShapeError extends Error {
  override readonly name = 'ShapeError';
}

const check = <T>(expected: string, isValid: (value: unknown) => boolean): Shape<T> => {
  return (value, path = 'value') => {
    if (!isValid(value)) throw new ShapeError(`${path}: expected ${expected}`);
    return value as T; // `isValid` has checked it.
  };
};

export const text = (charactersMin = 0): Shape<string> =>
  check('text', (value) => typeof value === 'string' && value.length >= charactersMin);

export const integer = (min = Number.MIN_SAFE_INTEGER): Shape<number> =>
  check('an integer', (value) => Number.isSafeInteger(value) && Number(value) >= min);

export const number = (min = Number.NEGATIVE_INFINITY): Shape<number> =>
  check('a number', (value) => Number.isFinite(value) && Number(value) >= min);

export const flag = (): Shape<boolean> => check('true or false', (value) => typeof value === 'boolean');

/** RFC 3339 in UTC. */
export const dateTime = (): Shape<string> =>
  check(
    'a time in UTC',
    (value) =>
      typeof value === 'string' && /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value) && !Number.isNaN(Date.parse(value)),
  );

export const oneOf = <const T extends readonly (string | number | boolean)[]>(...values: T): Shape<T[number]> =>
  check(values.join(' or '), (value) => values.some((each) => each === value));

export const nullable =
  <T>(shape: Shape<T>): Shape<T | null> =>
  (value, path) =>
    value === null ? null : shape(value, path);

/** A field that may be missing. */
export const optional =
  <T>(shape: Shape<T>): Shape<T | undefined> =>
  (value, path) =>
    value === undefined ? undefined : shape(value, path);

export const list =
  <T>(item: Shape<T>): Shape<T[]> =>
  (value, path = 'value') => {
    if (!Array.isArray(value)) throw new ShapeError(`${path}: expected a list`);
    return value.map((each, at) => item(each, `${path}.${at}`));
  };

/** An object with at least these fields. */
export const object = <F extends Fields>(fields: F): Shape<ObjectOf<F>> => {
  return (value, path = 'value') => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw new ShapeError(`${path}: expected an object`);
    }
    const known: Record<string, unknown> = { ...value };
    for (const [name, shape] of Object.entries(fields)) shape(known[name], `${path}.${name}`);
    return value as ObjectOf<F>; // Each field has been checked.
  };
};

/** An object whose further fields the type admits too. */
export const openObject = <F extends Fields>(fields: F): Shape<ObjectOf<F> & { [field: string]: unknown }> => {
  return object(fields) as Shape<ObjectOf<F> & { [field: string]: unknown }>; // `object` ignores further fields.
};

/** The first of two shapes that accepts the value. */
export const either =
  <A, B>(one: Shape<A>, other: Shape<B>): Shape<A | B> =>
  (value, path) =>
    accepts(one, value) ? one(value, path) : other(value, path);

/** Objects told apart by the text in one field. */
export const variants = <F extends Fields>(
  field: string,
  shapes: F,
): Shape<{ [K in keyof F]: Infer<F[K]> }[keyof F]> => {
  return (value, path = 'value') => {
    const name = openObject({})(value, path)[field];
    const shape = typeof name === 'string' && Object.hasOwn(shapes, name) ? shapes[name] : undefined;
    if (shape === undefined) throw new ShapeError(`${path}.${field}: expected a known value`);
    return shape(value, path) as Infer<F[keyof F]>; // `name` is one of the keys.
  };
};

/** Returns true if the shape accepts the value. */
export const accepts = <T>(shape: Shape<T>, value: unknown): value is T => {
  try {
    shape(value);
    return true;
  } catch {
    return false;
  }
};
