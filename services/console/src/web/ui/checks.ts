import type { ValidationIssue } from '@svc/contracts';

/** Path of a field in a form: `email`, or `redirect_uris.0`. */
export type FieldPath = string;

const issue = (path: FieldPath, type: string, ctx: Record<string, unknown> = {}): ValidationIssue => ({
  loc: ['body', ...path.split('.').map((part) => (/^\d+$/.test(part) ? Number(part) : part))],
  type,
  msg: '',
  ctx,
});

/** Returns a fault that services do not know, with its text. */
export const fault = (path: FieldPath, msg: string): ValidationIssue => ({ ...issue(path, 'value_error'), msg });

/** Returns the faults of a text under the services' names, so that both read alike. */
export const checkText = (
  path: FieldPath,
  text: string,
  rules: { required?: boolean; min?: number; max?: number },
): ValidationIssue[] => {
  // Services count code points, as people do, not UTF-16 units.
  const length = [...text].length;
  if (text.trim() === '') return rules.required === true ? [issue(path, 'missing')] : [];
  if (rules.min !== undefined && length < rules.min)
    return [issue(path, 'string_too_short', { min_length: rules.min })];
  if (rules.max !== undefined && length > rules.max) return [issue(path, 'string_too_long', { max_length: rules.max })];
  return [];
};

const EMAIL = /^[^\s@]+@[^\s@]+\.[^\s@]+$/;

/** Returns the faults of an email address. */
export const checkEmail = (path: FieldPath, text: string): ValidationIssue[] => {
  const faults = checkText(path, text, { required: true, max: 254 });
  if (faults.length > 0 || EMAIL.test(text.trim())) return faults;
  return [issue(path, 'string_pattern_mismatch')];
};

/** Returns the faults of a whole number; an empty text has none. */
export const checkInteger = (
  path: FieldPath,
  text: string,
  { min, max }: { min: number; max: number },
): ValidationIssue[] => {
  if (text.trim() === '') return [];
  if (!/^\d{1,9}$/.test(text.trim())) return [issue(path, 'int_type')];
  const value = Number(text);
  if (value < min) return [issue(path, 'greater_than_equal', { ge: min })];
  return value > max ? [issue(path, 'less_than_equal', { le: max })] : [];
};

/** Returns the field path of a service's fault; undefined if it does not concern the body. */
export const pathOf = ({ loc }: ValidationIssue): FieldPath | undefined => {
  const [origin, ...path] = loc;
  return origin === 'body' && path.length > 0 ? path.join('.') : undefined;
};
