import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';
import { keepFocus } from './components/keep-focus.ts';
import { noticeArrivals } from './components/restore-place.ts';
import { preloadScreen } from './routes.tsx';
import './styles.css';

const root = document.getElementById('root');
if (root === null) throw new Error('the page has no place for the dashboard');
preloadScreen(location.pathname);
keepFocus();
noticeArrivals();
createRoot(root).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
