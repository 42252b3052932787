const failed = new WeakSet<object>();

/** Records failed imports of page scripts, to distinguish them from faults of a page. */
export const watchImports = (): void => {
  window.addEventListener('vite:preloadError', ({ payload }) => failed.add(payload));
};

/** Returns true if the error is a script that could not be loaded. */
export const isFailedImport = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && failed.has(error);
