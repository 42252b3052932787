/** Separators between a model's name and the date or tag of a variant. */
const VARIANT_MARKS = ['-', ':', '@'];

/**
 * Returns true if an answer's model matches the upstream model of its route: the same name, with or without a path
 * prefix, or a dated or tagged variant. Models with different prefixes are different.
 */
export const coversModel = (upstreamModel: string, answered: string): boolean => {
  const route = splitPrefix(upstreamModel);
  const answer = splitPrefix(answered);
  const isSamePrefix = route.prefix === '' || answer.prefix === '' || route.prefix === answer.prefix;
  if (!isSamePrefix || !answer.name.startsWith(route.name)) return false;
  const rest = answer.name.slice(route.name.length);
  return rest === '' || (rest.length > 1 && VARIANT_MARKS.includes(rest.charAt(0)));
};

const splitPrefix = (model: string): { prefix: string; name: string } => {
  const slash = model.lastIndexOf('/');
  return { prefix: model.slice(0, Math.max(0, slash)), name: model.slice(slash + 1) };
};
