export { KeysPage, RequestSamples } from './keys-page.tsx';
