/** Returns PostgreSQL's message without the statement that knex puts before it: that may hold a password verifier. */
export const reasonOf = (error: unknown): string => {
  const message = error instanceof Error ? error.message : String(error);
  return message.slice(message.lastIndexOf(' - ') + 1).replace(/^- /, '');
};
