/** Returns true if JetStream reports that a stream, consumer or message does not exist. */
export const isNotFound = (error: unknown): boolean => {
  if (!(error instanceof Error)) return false;
  const apiError: unknown = Reflect.get(error, 'api_error');
  return typeof apiError === 'object' && apiError !== null && Reflect.get(apiError, 'code') === 404;
};
