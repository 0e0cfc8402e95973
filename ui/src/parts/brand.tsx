export const Brand = () => (
    <span class="brand">
        <svg viewBox="0 0 32 32" aria-hidden="true">
            <rect width="32" height="32" rx="7" fill="#0b7285" />
            <path
                d="M5 13c3.7-4 7.3-4 11 0s7.3 4 11 0M5 21c3.7-4 7.3-4 11 0s7.3 4 11 0"
                fill="none"
                stroke="#fff"
                stroke-width="3"
                stroke-linecap="round"
            />
        </svg>
        Tidegate
    </span>
);
