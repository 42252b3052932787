/**
 * Returns true for an answer that reports an error although its status is 200: nested as most providers do, or flat as older
 * vLLM and its derivatives do.
 */
export const reportsError = ({ error, object }: { readonly error?: unknown; readonly object?: unknown }): boolean =>
  (error !== undefined && error !== null) || object === 'error';
