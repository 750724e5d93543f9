"""What Foretell is compared with, a module a rival: each is a process of its own and knows nothing of Foretell."""
