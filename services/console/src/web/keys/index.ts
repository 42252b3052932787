export { KeysPage } from './keys-page.tsx';
export { RequestSamples } from './request-samples.tsx';
