import { z } from 'zod';

/** `type` names of validation errors, a subset of Pydantic's. */
export const validationErrorTypes = [
  'missing',
  'extra_forbidden',
  'string_type',
  'string_too_short',
  'string_too_long',
  'string_pattern_mismatch',
  'literal_error',
  'enum',
  'int_type',
  'float_type',
  'bool_type',
  'list_type',
  'dict_type',
  'greater_than',
  'greater_than_equal',
  'less_than_equal',
  'too_short',
  'too_long',
  'json_invalid',
  'value_error',
] as const;

export type ValidationErrorType = (typeof validationErrorTypes)[number];

/** One error of a request. `loc` starts with `body`, `query`, `path`, `form` or `header`. */
export const validationIssueSchema = z
  .object({
    loc: z.array(z.union([z.string(), z.int()])),
    msg: z.string(),
    type: z.string(),
    input: z.unknown().optional(),
    ctx: z.record(z.string(), z.unknown()).optional(),
  })
  .meta({ id: 'ValidationIssue' });

/** Body of a 422 response. */
export const validationErrorSchema = z
  .object({ detail: z.array(validationIssueSchema) })
  .meta({ id: 'ValidationError' });

export type ValidationIssue = z.infer<typeof validationIssueSchema>;
