import type { ValidationIssue } from '@svc/contracts';
import { ApiError } from '../api/index.ts';
import type { CoreMessages, Formats } from '../i18n/index.ts';
import { PasskeyError } from '../passkeys.ts';

/** An error in words for people. */
export interface DescribedError {
  readonly title: string;
  /** The next step. */
  readonly text: string;
  readonly requestId: string | undefined;
  /** True if a retry may succeed. */
  readonly canRetry: boolean;
}

/** Describes an error: what happened, what to do next. */
export const describeError = (error: unknown, messages: CoreMessages, formats: Formats): DescribedError => {
  const { errors } = messages;
  if (error instanceof PasskeyError) {
    return { title: errors.title, text: errors.next[error.code], requestId: undefined, canRetry: false };
  }
  if (!(error instanceof ApiError)) {
    return { title: errors.title, text: errors.next.internal_error, requestId: undefined, canRetry: true };
  }
  const { requestId } = error;
  if (error.code === 'not_implemented') {
    return { title: errors.notAvailableTitle, text: errors.notAvailable, requestId, canRetry: false };
  }
  const known: Readonly<Record<string, string>> = errors.next;
  const text = roleNeeded(error, messages) ?? known[error.code] ?? errors.unknown(error.message);
  const wait = error.retryAfterSeconds;
  return {
    title: errors.title,
    text: wait === undefined ? text : `${text} ${errors.retryAfter(formats.wait(wait))}`,
    requestId,
    canRetry: error.isTransient || error.status >= 500,
  };
};

/** Names the role that a refused act takes, if the service has said it. */
const roleNeeded = ({ code, details }: ApiError, { errors, shell }: CoreMessages): string | undefined => {
  const names: Readonly<Record<string, string>> = shell.roles;
  const name = code === 'role_not_allowed' ? names[String(details['required_role'])] : undefined;
  return name === undefined ? undefined : errors.roleNeeded(name);
};

/** Describes the fault of a field. */
export const describeIssue = (issue: ValidationIssue, messages: CoreMessages, formats: Formats): string => {
  const { faults, serviceFaults } = messages;
  const limit = (name: string): number => Number(issue.ctx?.[name] ?? 0);
  switch (issue.type) {
    case 'missing':
      return faults.missing;
    case 'string_too_short':
      return limit('min_length') <= 1 ? faults.missing : faults.tooShort(limit('min_length'));
    case 'string_too_long':
      return faults.tooLong(limit('max_length'));
    case 'too_short':
      return faults.tooFew(limit('min_length'));
    case 'too_long':
      return faults.tooMany(limit('max_length'));
    case 'greater_than_equal':
      return faults.atLeast(formats.number(limit('ge')));
    case 'less_than_equal':
      return faults.atMost(formats.number(limit('le')));
    case 'int_type':
    case 'float_type':
      return faults.integer;
    case 'string_pattern_mismatch':
      return issue.loc.at(-1) === 'email' ? faults.email : faults.pattern;
    default: {
      const reason = issue.msg.replace(/^Value error, /, '');
      return serviceFaults[reason] ?? asSentence(reason) ?? faults.notAccepted;
    }
  }
};

const asSentence = (text: string): string | undefined =>
  text === '' ? undefined : `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`;
