export { createHolder, type Holder } from './create-holder.ts';
