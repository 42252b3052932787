import type { ValidationIssue } from '@svc/contracts';
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, type RefObject, useEffect, useRef, useState } from 'react';
import { ApiError } from '../api/index.ts';
import { useDraft, useKeepDraft } from '../drafts.ts';
import { useCoreI18n } from '../i18n/index.ts';
import { describeIssue } from './describe-error.ts';

/** Path of a field in a form: `email`, or `redirect_uris.0`. */
type FieldPath = string;

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

export interface FormOptions<V extends object> {
  readonly initial: V;
  /** Name under which the tab keeps the values over a reload or a sign-in. Never for a form with a secret. */
  readonly draft?: string;
  /** Faults that can be seen before asking a service. */
  readonly check?: (values: V) => readonly ValidationIssue[];
  /** Rejects with ApiError; faults of fields are shown at the fields. */
  readonly submit: (values: V) => Promise<void>;
  /** Turns an error into a fault of a field where it is about one. */
  readonly faultFor?: (error: ApiError) => ValidationIssue | undefined;
  /** Does the same for an error that is not of a service. */
  readonly faultOfError?: (error: unknown) => ValidationIssue | undefined;
}

/** A form as its fields see it. */
export interface FormState<V extends object> {
  readonly values: V;
  readonly set: <K extends keyof V>(name: K, value: V[K]) => void;
  readonly reset: (values: V) => void;
  /** The text of the fault at a field. */
  readonly faultOf: (path: FieldPath) => string | undefined;
  /** Faults that belong to no field of this form. */
  readonly otherFaults: readonly string[];
  /** Number of fields of this form that have a fault. */
  readonly faultCount: number;
  /** True if the values were typed before a reload or a sign-in. */
  readonly isRestored: boolean;
  readonly error: unknown;
  readonly isBusy: boolean;
  readonly formRef: RefObject<HTMLFormElement | null>;
  readonly onSubmit: (event: FormEvent) => void;
}

/** Keeps the values of a form, checks them, sends them, and tells faults where they belong. */
export const useForm = <V extends object>(options: FormOptions<V>): FormState<V> => {
  const { messages, formats } = useCoreI18n();
  const draft = useDraft(options.draft, options.initial);
  const [saved, setSaved] = useState(options.initial);
  const [values, setValues] = useState(draft ?? options.initial);
  useKeepDraft(options.draft, values, JSON.stringify(values) !== JSON.stringify(saved));
  const [issues, setIssues] = useState<readonly ValidationIssue[]>([]);
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  // A mutation, so that a dialog around the form stays open meanwhile.
  const sending = useMutation({ mutationFn: options.submit });
  const formRef = useRef<HTMLFormElement>(null);
  const [refusals, setRefusals] = useState(0);
  useFocusOnFault(formRef, refusals);

  const submit = async (): Promise<void> => {
    const found = options.check?.(values) ?? [];
    setError(undefined);
    setIssues(found);
    if (found.length > 0) {
      setRefusals((count) => count + 1);
      return;
    }
    setBusy(true);
    try {
      await sending.mutateAsync(values);
    } catch (failure) {
      const { issues: told, rest } = sortFailure(failure, options);
      setIssues(told);
      if (told.length > 0) setRefusals((count) => count + 1);
      setError(rest);
    } finally {
      setBusy(false);
    }
  };
  const textOf = (issue: ValidationIssue): string => describeIssue(issue, messages, formats);
  const rootOf = (issue: ValidationIssue): string => (pathOf(issue) ?? '').split('.', 1)[0] ?? '';
  const isOwn = (issue: ValidationIssue): boolean => Object.hasOwn(values, rootOf(issue));

  return {
    values,
    set: (name, value) => {
      setValues((current) => ({ ...current, [name]: value }));
      setIssues((current) => current.filter((issue) => rootOf(issue) !== name));
    },
    reset: (next) => {
      setSaved(next);
      setValues(next);
      setIssues([]);
      setError(undefined);
    },
    faultOf: (path) => {
      const issue = issues.find((item) => pathOf(item) === path);
      return issue === undefined ? undefined : textOf(issue);
    },
    otherFaults: issues.filter((issue) => !isOwn(issue)).map(textOf),
    faultCount: new Set(issues.filter(isOwn).map(rootOf)).size,
    isRestored: draft !== undefined && values === draft,
    error,
    isBusy,
    formRef,
    onSubmit: (event) => {
      event.preventDefault();
      if (!isBusy) void submit();
    },
  };
};

const sortFailure = <V extends object>(
  failure: unknown,
  { faultFor, faultOfError }: FormOptions<V>,
): { issues: readonly ValidationIssue[]; rest: unknown } => {
  if (!(failure instanceof ApiError)) {
    const found = faultOfError?.(failure);
    return found === undefined ? { issues: [], rest: failure } : { issues: [found], rest: undefined };
  }
  if (failure.issues.length > 0) return { issues: failure.issues, rest: undefined };
  const fault = faultFor?.(failure);
  return fault === undefined ? { issues: [], rest: failure } : { issues: [fault], rest: undefined };
};

/**
 * Moves the focus to the first field that has a fault after each refusal, the same one again included, and brings the
 * text of the fault into view below it.
 */
const useFocusOnFault = (form: RefObject<HTMLFormElement | null>, refusals: number): void => {
  useEffect(() => {
    if (refusals === 0) return;
    const field = form.current?.querySelector<HTMLElement>('[aria-invalid="true"]');
    field?.focus();
    field?.closest('.field')?.scrollIntoView({ block: 'nearest' });
  }, [form, refusals]);
};
