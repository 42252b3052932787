export { createHolder, type Holder } from './create-holder.ts';
export { reachableUrl } from './reachable-url.ts';
