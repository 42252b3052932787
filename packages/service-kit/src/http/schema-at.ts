import type { z } from 'zod';

type Definition = z.core.$ZodTypes['_zod']['def'];

// zod only creates schemas of $ZodTypes; its public type is wider.
const definitionOf = (schema: z.core.$ZodType): Definition => (schema as z.core.$ZodTypes)._zod.def;

/** Unwraps optional, nullable, default, readonly, lazy and piped schemas to the one that receives the input. */
const unwrap = (schema: z.core.$ZodType): z.core.$ZodType => {
  const definition = definitionOf(schema);
  switch (definition.type) {
    case 'optional':
    case 'nullable':
    case 'default':
    case 'prefault':
    case 'nonoptional':
    case 'catch':
    case 'readonly':
      return unwrap(definition.innerType);
    case 'lazy':
      return unwrap(definition.getter());
    case 'pipe':
      return unwrap(definitionOf(definition.in).type === 'transform' ? definition.out : definition.in);
    default:
      return schema;
  }
};

/** Returns the kind of the unwrapped schema: `string`, `number`, `object`, … */
export const schemaType = (schema: z.core.$ZodType): Definition['type'] => definitionOf(unwrap(schema)).type;

/** Returns the schema of the member at a path; undefined if the path leaves the schema or enters a union. */
export const schemaAt = (schema: z.core.$ZodType, path: readonly PropertyKey[]): z.core.$ZodType | undefined => {
  const [head, ...rest] = path;
  const inner = unwrap(schema);
  if (head === undefined) return inner;
  const member = memberOf(inner, head);
  return member === undefined ? undefined : schemaAt(member, rest);
};

const memberOf = (schema: z.core.$ZodType, key: PropertyKey): z.core.$ZodType | undefined => {
  const definition = definitionOf(schema);
  switch (definition.type) {
    case 'object':
      return Object.hasOwn(definition.shape, key) ? definition.shape[String(key)] : definition.catchall;
    case 'array':
      return definition.element;
    case 'record':
      return definition.valueType;
    case 'tuple':
      return definition.items[Number(key)];
    default:
      return undefined;
  }
};

/** Returns the members of a union; undefined for any other schema. */
export const unionOptions = (schema: z.core.$ZodType | undefined): readonly z.core.$ZodType[] | undefined => {
  if (schema === undefined) return undefined;
  const definition = definitionOf(unwrap(schema));
  return definition.type === 'union' ? definition.options : undefined;
};

/** Returns true if a number schema accepts integers only. */
export const isIntegerSchema = (schema: z.core.$ZodType | undefined): boolean => {
  if (schema === undefined) return false;
  const definition = definitionOf(unwrap(schema));
  if (definition.type !== 'number') return false;
  if ('format' in definition) return String(definition.format).includes('int');
  return (definition.checks ?? []).some(({ _zod: { def } }) =>
    'format' in def
      ? String(def.format).includes('int')
      : 'value' in def && def.check === 'multiple_of' && def.value === 1,
  );
};
