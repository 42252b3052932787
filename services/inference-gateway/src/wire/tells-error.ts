/**
 * Whether a provider tells of an error where an answer should be, though its status says that it is one: nested as most do, or
 * flat, as older vLLM and what is built on it.
 */
export const tellsError = ({ error, object }: { readonly error?: unknown; readonly object?: unknown }): boolean =>
  (error !== undefined && error !== null) || object === 'error';
