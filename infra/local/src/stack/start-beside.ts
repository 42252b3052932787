import type { StackContext } from './stack-context.ts';

/**
 * Starts a part without which the product works, once the stack is ready. Never rejects, and prints only a failure, as a
 * good start ends with the ready lines.
 */
export const startBeside = async (
  context: StackContext,
  start: (quiet: StackContext) => Promise<void>,
): Promise<void> => {
  const { report, signal } = context;
  try {
    await start({ ...context, report: { ...report, line: () => undefined } });
  } catch (error) {
    if (!signal.aborted) report.line(error instanceof Error ? error.message : String(error));
  }
};
