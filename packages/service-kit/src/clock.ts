/** Returns the current time. Passed in as a dependency, so that tests can control it. */
export type Clock = () => Date;

export const systemClock: Clock = () => new Date();
