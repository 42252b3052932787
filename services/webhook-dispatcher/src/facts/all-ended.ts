/**
 * As `Promise.all`, but where one fails the others end first: nothing is to be asked of a connection once its transaction has
 * given it back.
 */
export async function allEnded<T extends readonly unknown[]>(work: [...T]): Promise<{ [K in keyof T]: Awaited<T[K]> }> {
  await Promise.allSettled(work);
  return await Promise.all(work);
}
