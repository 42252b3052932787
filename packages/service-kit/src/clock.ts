/** The current time. Passed in wherever it is read, so that tests can move it. */
export type Clock = () => Date;

/** The clock of the machine. */
export const systemClock: Clock = () => new Date();
