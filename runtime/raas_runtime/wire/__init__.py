"""How host and sandbox talk: frames, the host's listener and channel, the action server inside."""
