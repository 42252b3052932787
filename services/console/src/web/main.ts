import './styles/index.css';
import { askForSession } from './early-session.ts';

// The question is on its way before the script of the pages is here.
askForSession();
// Each import is evaluated in a separate task, and the browser answers a press between two.
await import('react-dom/client');
const { start } = await import('./boot.tsx');
start();
