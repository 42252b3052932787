import { isSet } from './json-value.ts';

/**
 * Returns true for an error in an answer with status 200: nested as most providers send it, or flat as older vLLM and its
 * derivatives do.
 */
export const reportsError = ({ error, object }: { readonly error?: unknown; readonly object?: unknown }): boolean =>
  (isSet(error) && error !== false) || object === 'error';
