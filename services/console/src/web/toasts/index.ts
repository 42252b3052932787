export { Toasts, useToast } from './toasts.tsx';
