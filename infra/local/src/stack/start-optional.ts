import type { StackContext } from './stack-context.ts';

/** Starts a part without which the product works. Never rejects: a failure is one line of the report. */
export const startOptional = async (
  context: StackContext,
  start: (context: StackContext) => Promise<void>,
): Promise<void> => {
  const { report, signal } = context;
  try {
    await start(context);
  } catch (error) {
    if (!signal.aborted) report.line(error instanceof Error ? error.message : String(error));
  }
};

/** Starts an optional part once the stack is ready. Prints only a failure, as a good start ends with the ready lines. */
export const startBeside = (context: StackContext, start: (quiet: StackContext) => Promise<void>): Promise<void> =>
  startOptional(context, (given) => start({ ...given, report: { ...given.report, line: () => undefined } }));
